package org.jofi.runtime;

import static java.lang.System.Logger.Level.ERROR;

import java.lang.foreign.Arena;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.AgentRunner;
import org.agrona.concurrent.SleepingMillisIdleStrategy;
import org.jofi.rdma.RdmaTransport;
import org.jofi.transport.Device;
import org.jofi.transport.Memory;
import org.jofi.transport.Transport;
import org.jofi.transport.TransportOptions;

/** A transport with a daemon thread that answers its peers while the application computes. */
final class KeptTransport implements Transport {
  private static final System.Logger LOG = System.getLogger("org.jofi.runtime");
  private static final long WAKE_MS = 100;

  private final RdmaTransport transport;
  private final AgentRunner keeper;

  KeptTransport(RdmaTransport transport) {
    this.transport = transport;
    keeper =
        new AgentRunner(
            new SleepingMillisIdleStrategy(WAKE_MS),
            error -> LOG.log(ERROR, "the thread that answers peers met an error", error),
            null,
            new HousekeepingAgent(transport::tend));
    AgentRunner.startOnThread(keeper, KeptTransport::daemon);
  }

  private static Thread daemon(Runnable work) {
    Thread thread = new Thread(work);
    thread.setDaemon(true);
    return thread;
  }

  @Override
  public List<Device> devices() {
    return transport.devices();
  }

  @Override
  public TransportOptions options() {
    return transport.options();
  }

  @Override
  public Arena openArena() {
    return transport.openArena();
  }

  @Override
  public void forget(Memory memory) {
    transport.forget(memory);
  }

  @Override
  public void close() {
    keeper.close((int) TimeUnit.SECONDS.toMillis(1), null);
    transport.close();
  }
}

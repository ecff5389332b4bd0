package org.jofi.runtime;

import java.lang.foreign.Arena;
import java.util.List;
import org.jofi.rdma.RdmaTransport;
import org.jofi.transport.Device;
import org.jofi.transport.Memory;
import org.jofi.transport.Transport;
import org.jofi.transport.TransportOptions;

/** A transport whose peers are answered while the application computes. */
final class KeptTransport implements Transport {
  private final RdmaTransport transport;
  private final HousekeepingThread housekeeping;

  KeptTransport(RdmaTransport transport) {
    this.transport = transport;
    housekeeping = new HousekeepingThread(transport::tend, transport.options().closeTimeout());
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
    housekeeping.close();
    transport.close();
  }
}

package org.jofi.runtime;

import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.jofi.counters.written.CounterFile;
import org.jofi.fabric.FabricProvider;
import org.jofi.rdma.RdmaTransport;
import org.jofi.transport.Device;
import org.jofi.transport.FailureCause;
import org.jofi.transport.Memory;
import org.jofi.transport.Transport;
import org.jofi.transport.TransportException;
import org.jofi.transport.TransportOptions;
import org.jofi.transport.TransportProvider;

/** Opens transports, over libfabric unless told otherwise, with this machine's clock. */
public final class JofiTransports implements TransportProvider {
  private static final String LIBFABRIC = "libfabric";

  /** For {@link java.util.ServiceLoader}. */
  public JofiTransports() {}

  @Override
  public Transport open(TransportOptions options) {
    List<FabricProvider> installed = FabricProvider.installed();
    FabricProvider libfabric =
        installed.stream()
            .filter(provider -> provider.name().equals(LIBFABRIC))
            .findFirst()
            .orElseThrow(
                () ->
                    new TransportException(
                        FailureCause.UNAVAILABLE,
                        "the jofi-libfabric jar is not on the module path; there are providers %s"
                            .formatted(installed.stream().map(FabricProvider::name).toList())));
    return open(libfabric, options);
  }

  @Override
  public Transport open(FabricProvider provider, TransportOptions options) {
    NativeAccess.require(provider);
    CounterFile counters = CounterFile.open(version(provider), System.currentTimeMillis());
    try {
      return new KeptTransport(
          RdmaTransport.open(provider, options, Machine.environment(counters)), counters);
    } catch (RuntimeException | Error e) {
      counters.close();
      throw e;
    }
  }

  private static String version(FabricProvider provider) {
    try {
      return provider.version();
    } catch (RuntimeException missing) {
      // Opening the transport says what is missing.
      return "";
    }
  }

  /** A transport whose peers are answered while the application computes. */
  private static final class KeptTransport implements Transport {
    private final RdmaTransport transport;
    private final CounterFile counters;
    private final HousekeepingThread housekeeping;

    KeptTransport(RdmaTransport transport, CounterFile counters) {
      this.transport = transport;
      this.counters = counters;
      housekeeping = new HousekeepingThread(this::keep, transport.options().closeTimeout());
    }

    private void keep() {
      long before = System.nanoTime();
      try {
        transport.tend();
      } finally {
        counters.beat(System.currentTimeMillis(), System.nanoTime() - before);
      }
    }

    @Override
    public Optional<Path> countersFile() {
      return counters.path();
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
      counters.close();
    }
  }
}

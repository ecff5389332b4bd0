package org.jofi.runtime;

import java.lang.foreign.Arena;
import java.util.List;
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
    return new KeptTransport(RdmaTransport.open(provider, options, Machine.environment()));
  }

  /** A transport whose peers are answered while the application computes. */
  private static final class KeptTransport implements Transport {
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
}

package org.jofi.runtime;

import java.util.List;
import org.jofi.fabric.FabricProvider;
import org.jofi.rdma.RdmaTransport;
import org.jofi.transport.FailureCause;
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
    return new KeptTransport(RdmaTransport.open(provider, options, Machine.environment()));
  }
}

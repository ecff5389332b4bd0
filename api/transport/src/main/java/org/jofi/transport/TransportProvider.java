package org.jofi.transport;

import java.util.ServiceLoader;
import org.jofi.fabric.FabricProvider;

/** Opens transports: a service, found by {@link java.util.ServiceLoader}. Any thread. */
public interface TransportProvider {

  /**
   * Finds the one on the module path or class path.
   *
   * @return the first one that is found
   * @throws TransportException with {@link FailureCause#UNAVAILABLE} if there is none
   */
  static TransportProvider installed() {
    return ServiceLoader.load(TransportProvider.class, TransportProvider.class.getClassLoader())
        .findFirst()
        .orElseThrow(
            () ->
                new TransportException(
                    FailureCause.UNAVAILABLE,
                    "no transport found: put the jofi-rdma-protocol jar on the module path"));
  }

  /**
   * Opens a transport; see {@link Transport#open(TransportOptions)}.
   *
   * @param options which NICs to use and how
   * @return the transport, which the caller closes
   * @throws TransportException as described there
   */
  Transport open(TransportOptions options);

  /**
   * Opens a transport over a given provider; see {@link Transport#open(FabricProvider,
   * TransportOptions)}.
   *
   * @param provider whose NICs to use
   * @param options which of its NICs to use and how
   * @return the transport, which the caller closes
   * @throws TransportException as described there
   */
  Transport open(FabricProvider provider, TransportOptions options);
}

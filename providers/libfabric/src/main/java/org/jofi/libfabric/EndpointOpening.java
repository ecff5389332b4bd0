package org.jofi.libfabric;

import java.util.Optional;
import org.jofi.fabric.EndpointRequest;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.jofi.libfabric.LibfabricTraits.PortVariables;

/** Opens endpoints; where a name or a port is taken, with another one. */
final class EndpointOpening {
  /** How many names for an endpoint in shared memory are tried. */
  private static final int NAMES = 64;

  /** How often a provider may choose a port. */
  private static final int CHOICES = 16;

  private final LibfabricDomain domain;
  private final EndpointRequest request;

  private EndpointOpening(LibfabricDomain domain, EndpointRequest request) {
    this.domain = domain;
    this.request = request;
  }

  /**
   * Opens one.
   *
   * @throws FabricException if the provider refuses; nothing stays open then
   */
  static LibfabricEndpoint open(LibfabricDomain domain, EndpointRequest request) {
    EndpointOpening opening = new EndpointOpening(domain, request);
    if (domain.isSharedMemory()) {
      return opening.inSharedMemory();
    }
    Optional<ListeningPorts> ports = LibfabricLibrary.load().ports();
    return ports.isEmpty() ? opening.once(domain.handle()) : opening.within(ports.get());
  }

  private LibfabricEndpoint once(NativeInfo info) {
    return LayeredEagerLimit.during(
        domain.info().provider(),
        LibfabricLibrary.load().version(),
        () -> LibfabricEndpoint.open(domain, request, info));
  }

  /**
   * A killed process that had the same process id may have left a file with the endpoint's name.
   * The provider removes the file but still refuses; the next endpoint has another name.
   */
  private LibfabricEndpoint inSharedMemory() {
    for (int attempt = 1; ; attempt++) {
      try {
        return once(domain.handle());
      } catch (FabricException e) {
        if (e.errno() != FabricErrno.EBUSY || attempt == NAMES) {
          throw e;
        }
      }
    }
  }

  /**
   * At one of these ports. Providers that choose one by themselves say that it is taken if another
   * process chose the same one at that moment, before either listened there.
   */
  private LibfabricEndpoint within(ListeningPorts ports) {
    String provider = domain.info().provider();
    boolean ofInfo = LibfabricTraits.listensAtPortOfInfo(provider);
    Optional<PortVariables> variables = LibfabricTraits.portVariables(provider);
    if (!ofInfo && variables.isEmpty()) {
      return once(domain.handle());
    }
    int first = ports.anyOffset();
    for (int attempt = 1; ; attempt++) {
      try {
        LibfabricEndpoint endpoint =
            once(ofInfo ? ports.at(first + attempt, domain.handle()) : domain.handle());
        variables.ifPresent(names -> ports.check(endpoint, names));
        return endpoint;
      } catch (FabricException e) {
        if (!ListeningPorts.isTaken(e)) {
          throw e;
        }
        if (attempt >= (ofInfo ? ports.count() : CHOICES)) {
          throw ports.explain(e);
        }
      }
    }
  }
}

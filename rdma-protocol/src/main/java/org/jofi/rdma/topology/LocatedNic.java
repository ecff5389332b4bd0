package org.jofi.rdma.topology;

import java.util.Optional;
import org.jofi.fabric.Addressing;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.KeyOwner;
import org.jofi.fabric.RegistrationScope;

/**
 * A NIC and where it sits.
 *
 * @param info the NIC
 * @param path empty if unknown
 */
record LocatedNic(FabricInfo info, Optional<PciPath> path) {

  /** What has to be the same for NICs to serve as one device: what registrations look like. */
  Likeness likeness() {
    return new Likeness(
        info.provider(), info.registrationScope(), info.keyOwner(), info.addressing());
  }

  /** The IP subnet that it is in, such as {@code 10.77.0.0/24}, which is its network's name. */
  Optional<String> subnet() {
    return Optional.of(info.fabricName()).filter(name -> name.matches("[0-9a-f.:]+/[0-9]+"));
  }

  /** The NIC's name. */
  String name() {
    return info.domainName();
  }

  /** What NICs of one device have in common. */
  record Likeness(
      String provider, RegistrationScope scope, KeyOwner keyOwner, Addressing addressing) {}
}

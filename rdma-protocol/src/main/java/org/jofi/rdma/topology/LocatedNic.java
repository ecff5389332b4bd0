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

  /** The NIC's name. */
  String name() {
    return info.domainName();
  }

  /** What NICs of one device have in common. */
  record Likeness(
      String provider, RegistrationScope scope, KeyOwner keyOwner, Addressing addressing) {}
}

package org.jofi.mr;

import java.util.function.Consumer;
import org.jofi.mr.region.RegionSet;
import org.jofi.mr.region.RegistrationRole;

/**
 * The registration of a control mailbox, the memory that peers write control messages into. It is
 * registered on the control rails of a multi-rail endpoint only, with a key per rail for the peer.
 * Not cached. The code that made it closes it, or the endpoint's teardown does. The memory must
 * stay mapped until then.
 *
 * <p>Any thread may read descriptors, keys and addresses.
 */
public final class ControlRegistration extends OwnedRegistration {

  ControlRegistration(RegionSet regions, Consumer<OwnedRegistration> forget) {
    super(RegistrationRole.CONTROL, regions, forget);
  }

  /** The key for a peer that accesses it through this control rail. */
  public long key(int rail) {
    return regions().key(rail);
  }

  /**
   * The address that a peer uses on this control rail for a local address.
   *
   * @throws IndexOutOfBoundsException if the address is not within the mailbox
   */
  public long remoteAddress(int rail, long address) {
    return regions().remoteAddress(rail, address);
  }
}

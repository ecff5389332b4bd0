package org.jofi.mr;

import java.util.function.Consumer;

/**
 * A control mailbox, registered on the control rails of a multi-rail endpoint and on no other, with
 * a key per rail for the peer that writes into it. Not cached. Its maker closes it, or the
 * endpoint's teardown does; the memory must stay mapped until then.
 *
 * <p>Any thread may read descriptors, keys and addresses.
 */
public final class ControlRegistration extends OwnedRegistration {

  ControlRegistration(RegionSet regions, Consumer<OwnedRegistration> forget) {
    super(RegistrationRole.CONTROL, regions, forget);
  }

  /** The key for the peer that reaches it through that control rail. */
  public long key(int rail) {
    return regions().key(rail);
  }

  /**
   * What the peer calls an address of it on that control rail.
   *
   * @throws IndexOutOfBoundsException if the address is outside of the mailbox
   */
  public long remoteAddress(int rail, long address) {
    return regions().remoteAddress(rail, address);
  }
}

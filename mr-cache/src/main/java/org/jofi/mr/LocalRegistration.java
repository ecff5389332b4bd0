package org.jofi.mr;

import java.util.function.Consumer;

/**
 * Memory that only this side uses, such as a block of receive buffers, headers or a flush landing
 * place: registered on the rails that use it, without a key for peers. Not cached. A rail that
 * needs no descriptor for such memory has no region of it, and the descriptor is 0.
 *
 * <p>Its maker closes it, or the endpoint's teardown does; the memory must stay mapped until then.
 * Any thread may read descriptors.
 */
public final class LocalRegistration extends OwnedRegistration {

  LocalRegistration(RegionSet regions, Consumer<OwnedRegistration> forget) {
    super(RegistrationRole.LOCAL, regions, forget);
  }
}

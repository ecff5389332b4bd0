package org.jofi.mr;

import java.util.function.Consumer;
import org.jofi.mr.region.RegionSet;
import org.jofi.mr.region.RegistrationRole;

/**
 * The registration of memory that no peer accesses, such as a block of receive buffers, message
 * headers, or the buffer that flushes read into. It is registered on the rails that use it, without
 * a key for peers. Not cached. On a rail that needs no descriptor for such memory there is no
 * region, and the descriptor is 0.
 *
 * <p>The code that made it closes it, or the endpoint's teardown does. The memory must stay mapped
 * until then. Any thread may read descriptors.
 */
public final class LocalRegistration extends OwnedRegistration {

  LocalRegistration(RegionSet regions, Consumer<OwnedRegistration> forget) {
    super(RegistrationRole.LOCAL, regions, forget);
  }
}

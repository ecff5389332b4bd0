package org.jofi.mr;

import java.util.function.Consumer;
import org.jofi.mr.region.RegionSet;
import org.jofi.mr.region.RegistrationRole;
import org.jofi.mr.registration.BufferRange;
import org.jofi.mr.registration.Descriptors;

/**
 * A registration of an endpoint that is not shared: what control and local registrations have in
 * common.
 */
abstract sealed class OwnedRegistration implements Descriptors, AutoCloseable
    permits ControlRegistration, LocalRegistration {
  private final RegistrationRole role;
  private final RegionSet regions;
  private final Consumer<OwnedRegistration> forget;

  OwnedRegistration(RegistrationRole role, RegionSet regions, Consumer<OwnedRegistration> forget) {
    this.role = role;
    this.regions = regions;
    this.forget = forget;
  }

  /** The registered memory. */
  public final BufferRange range() {
    return regions.range();
  }

  /** The number of rails that it is registered on. */
  public final int rails() {
    return regions.rails();
  }

  /** The descriptor for posting calls on this rail; 0 if the rail needs none. */
  @Override
  public final long descriptor(int rail) {
    return regions.descriptor(rail);
  }

  final RegionSet regions() {
    return regions;
  }

  /**
   * Closes it on all rails; a second call does nothing. One thread at a time. No operation that
   * uses it may be in flight.
   *
   * @throws org.jofi.fabric.FabricException if a provider refuses: {@code EBUSY} while receives are
   *     posted in it. It is closed on the other rails then, and the call can be repeated.
   */
  @Override
  public final void close() {
    regions.close();
    forget.accept(this);
  }

  @Override
  public final String toString() {
    return "%s %s on %d rail(s)".formatted(role, range(), rails());
  }
}

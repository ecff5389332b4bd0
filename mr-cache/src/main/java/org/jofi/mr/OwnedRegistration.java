package org.jofi.mr;

import java.util.function.Consumer;

/** What an endpoint's own registrations have in common: they are not shared, and their owner's. */
abstract sealed class OwnedRegistration implements AutoCloseable
    permits ControlRegistration, LocalRegistration {
  private final RegistrationRole role;
  private final RegionSet regions;
  private final Consumer<OwnedRegistration> forget;

  OwnedRegistration(RegistrationRole role, RegionSet regions, Consumer<OwnedRegistration> forget) {
    this.role = role;
    this.regions = regions;
    this.forget = forget;
  }

  /** What is registered. */
  public final BufferRange range() {
    return regions.range();
  }

  /** On how many rails. */
  public final int rails() {
    return regions.rails();
  }

  /** What posting calls on that rail take as descriptor; 0 where the rail needs none. */
  public final long descriptor(int rail) {
    return regions.descriptor(rail);
  }

  final RegionSet regions() {
    return regions;
  }

  /**
   * Closes it on all rails; again is a no-op. One thread at a time. Nothing that uses it may be in
   * flight.
   *
   * @throws org.jofi.fabric.FabricException if a provider refuses: {@code EBUSY} while receives are
   *     posted in it. It is closed on the other rails then; call again.
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

package org.jofi.mr.region;

import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jofi.fabric.Access;
import org.jofi.fabric.Addressing;
import org.jofi.fabric.Domain;
import org.jofi.fabric.MemoryKind;
import org.jofi.fabric.MemoryRegion;
import org.jofi.mr.key.KeySource;
import org.jofi.mr.registration.BufferRange;
import org.jofi.mr.registration.RegistrationException;
import org.jofi.mr.scope.MrScope;
import org.jofi.mr.scope.Rail;
import org.jofi.mr.teardown.Failures;
import org.jofi.transport.diagnostics.Events;
import org.jofi.transport.diagnostics.RegistrationEvent;
import org.jspecify.annotations.Nullable;

/**
 * The regions of one range on several rails. The range is registered on all of them or on none. Any
 * thread may read descriptors, keys and addresses; one thread closes, but for a single rail.
 */
public final class RegionSet implements AutoCloseable {
  private final BufferRange range;
  private final List<Rail> rails;

  /** For each rail, the action that closes its region in the state that it reached. */
  private final @Nullable Runnable[] closers;

  /** For each rail, the source that its key came from, while the key is in use. */
  private final @Nullable KeySource[] keySources;

  private final long[] takenKeys;
  private final long[] descriptors;
  private final long[] peerKeys;
  private final long[] peerBases;

  private RegionSet(BufferRange range, List<Rail> on) {
    this.range = range;
    rails = on;
    int count = on.size();
    closers = new Runnable[count];
    takenKeys = new long[count];
    keySources = new KeySource[count];
    descriptors = new long[count];
    peerKeys = new long[count];
    peerBases = new long[count];
  }

  /**
   * Registers a range on each of the rails, in order. If one fails, the earlier ones are undone in
   * reverse order.
   *
   * @param leftover is given regions that could not be closed again; their owner has to retry
   * @throws RegistrationException if a rail refuses
   */
  public static RegionSet open(
      RegistrationRole role,
      MrScope scope,
      Function<Domain, KeySource> keys,
      List<Rail> rails,
      BufferRange range,
      long access,
      Consumer<RegionSet> leftover) {
    RegistrationEvent event = Events.registration();
    RegionSet set = new RegionSet(range, rails);
    for (int rail = 0; rail < rails.size(); rail++) {
      try {
        set.openRail(role, scope, keys, rail, rails.get(rail), access);
      } catch (RuntimeException e) {
        throw set.undone(
            "cannot register %s %s for %s on rail %d of %d, %s: %s"
                .formatted(
                    role,
                    range,
                    Access.describe(access),
                    rail,
                    rails.size(),
                    rails.get(rail),
                    e.getMessage()),
            e,
            leftover);
      }
    }
    if (event != null) {
      event.commit(
          role.toString(),
          range.kind().name(),
          range.device(),
          range.address(),
          range.lengthBytes(),
          rails.size(),
          scope.generation());
    }
    return set;
  }

  private void openRail(
      RegistrationRole role,
      MrScope scope,
      Function<Domain, KeySource> keys,
      int index,
      Rail rail,
      long access) {
    if (role == RegistrationRole.LOCAL && !MrScope.needsDescriptor(rail, range.kind())) {
      return;
    }
    peerBases[index] = peerBase(rail.domain().info().addressing());
    try (MrScope.Use use = scope.use(rail)) {
      if (use == null) {
        return;
      }
      KeySource source = keys.apply(rail.domain());
      takenKeys[index] = source.take();
      keySources[index] = source;
      MemoryRegion region =
          scope.register(
              rail, range.request(access, takenKeys[index]), closer -> closers[index] = closer);
      if (MrScope.needsDescriptor(rail, range.kind()) || range.kind() != MemoryKind.HOST) {
        // Without, an operation does not depend on a region that closes before its endpoint.
        descriptors[index] = region.descriptor();
      }
      if (Access.isRemote(access)) {
        peerKeys[index] = region.key();
      }
    }
  }

  /** What to subtract from an address of this process to get the address that a peer uses. */
  private long peerBase(Addressing addressing) {
    return addressing == Addressing.VIRTUAL ? 0 : range.address();
  }

  private RegistrationException undone(
      String message, RuntimeException cause, Consumer<RegionSet> leftover) {
    try {
      close();
      return new RegistrationException(message, cause);
    } catch (RuntimeException e) {
      RegistrationException failure = new RegistrationException(message, cause);
      failure.addSuppressed(e);
      leftover.accept(this);
      return failure;
    }
  }

  public BufferRange range() {
    return range;
  }

  public int rails() {
    return closers.length;
  }

  public long descriptor(int rail) {
    return descriptors[rail];
  }

  public long key(int rail) {
    return peerKeys[rail];
  }

  public long remoteAddress(int rail, long address) {
    if (Long.compareUnsigned(address - range.address(), range.lengthBytes()) >= 0) {
      throw new IndexOutOfBoundsException("0x%x is not in %s".formatted(address, range));
    }
    return address - peerBases[rail];
  }

  /**
   * Closes the open regions in reverse order, and gives each key back once its region is closed. It
   * tries every rail. A region that the provider refuses to close stays open, and the call can be
   * repeated.
   *
   * @throws org.jofi.fabric.FabricException the first refusal; the others are suppressed exceptions
   *     of it
   */
  @Override
  public synchronized void close() {
    RuntimeException failure = null;
    for (int rail = closers.length - 1; rail >= 0; rail--) {
      try {
        closeRail(rail);
      } catch (RuntimeException e) {
        failure = Failures.join(failure, e);
      }
    }
    if (failure != null) {
      throw failure;
    }
  }

  private void closeRail(int rail) {
    KeySource source = keySources[rail];
    if (source == null) {
      return;
    }
    Runnable closer = closers[rail];
    if (closer != null) {
      closer.run();
      closers[rail] = null;
    }
    keySources[rail] = null;
    source.giveBack(takenKeys[rail]);
  }

  /**
   * Closes the region on a rail whose endpoint closes, though others may be in use. It has no key
   * and no descriptor there any more. Called by whoever posts to that rail, and does so no more.
   *
   * @throws org.jofi.fabric.FabricException if the provider refuses; the call can be repeated
   */
  public synchronized void closeRail(Rail of) {
    int rail = rails.indexOf(of);
    if (rail >= 0) {
      closeRail(rail);
      descriptors[rail] = 0;
      peerKeys[rail] = 0;
    }
  }
}

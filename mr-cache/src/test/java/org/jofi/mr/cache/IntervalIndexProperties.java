package org.jofi.mr.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.jofi.counters.written.CounterBlock;
import org.jofi.counters.written.CounterScope;
import org.jofi.fabric.Access;
import org.jofi.mr.key.KeySource;
import org.jofi.mr.recording.SteppingClock;
import org.jofi.mr.region.RegionSet;
import org.jofi.mr.region.RegistrationRole;
import org.jofi.mr.registration.BufferRange;
import org.jofi.mr.registration.CacheLimits;
import org.jofi.mr.registration.RequestNames;
import org.jofi.mr.scope.DomainScope;

/** The index agrees with a sorted map, over hundreds of members in many chunks. */
public class IntervalIndexProperties {
  private static final long STEP = 1000;
  private static final int PLACES = 700;

  private final DomainScope scope = new DomainScope(1);
  private final CacheSpace space = new CacheSpace(scope);

  /** A member at one of the places; each overlaps the next one or two, and contains none. */
  private CachedRegistration member(int place, long base) {
    BufferRange range = BufferRange.host(base + place * STEP, 2 * STEP + place);
    RegionSet none =
        RegionSet.open(
            RegistrationRole.LOCAL,
            scope,
            domain -> new KeySource.ProviderKeys(),
            List.of(),
            range,
            Access.SEND,
            leftover -> {});
    return new CachedRegistration(
        new RegistrationCache(
            CacheLimits.OFF,
            new SteppingClock(),
            RequestNames.NONE,
            domain -> new KeySource.ProviderKeys(),
            CounterBlock.unshared(CounterScope.REGISTRATIONS)),
        space,
        none,
        null,
        Access.SEND,
        place);
  }

  @Property(tries = 1000)
  void agreesWithASortedMap(
      @ForAll @IntRange(min = 1, max = 600) int inserted,
      @ForAll @IntRange(min = 0, max = 100) int removedPercent,
      @ForAll boolean high,
      @ForAll Random random) {
    // Across the address that is the first with the top bit, or far below it.
    long base = high ? Long.MIN_VALUE - PLACES / 2 * STEP : 0x7f00_0000_0000L;
    IntervalIndex index = new IntervalIndex();
    TreeMap<Long, CachedRegistration> model = new TreeMap<>(Long::compareUnsigned);
    for (int i = 0; i < inserted; i++) {
      CachedRegistration member = member(random.nextInt(PLACES), base);
      if (model.putIfAbsent(member.range().address(), member) == null) {
        index.insert(member);
      }
    }
    for (CachedRegistration member : new ArrayList<>(model.values())) {
      if (random.nextInt(100) < removedPercent) {
        model.remove(member.range().address());
        assertTrue(index.remove(member));
        assertFalse(index.remove(member));
      }
    }
    for (int i = 0; i < 100; i++) {
      long offset = random.nextLong((PLACES + 4) * STEP);
      long address = base + (i % 2 == 0 ? offset : offset - offset % STEP);
      Map.Entry<Long, CachedRegistration> expected = model.floorEntry(address);
      long first = IntervalIndex.order(address);
      assertSame(expected == null ? null : expected.getValue(), index.floor(first));
      long length = 1 + random.nextLong(5000);
      List<CachedRegistration> found = new ArrayList<>();
      index.overlapping(first, first + length - 1, found);
      List<CachedRegistration> overlapping =
          model.values().stream()
              .filter(member -> overlaps(member.range(), address, length))
              .toList();
      assertEquals(overlapping.size(), found.size(), "overlapping");
      assertEquals(new HashSet<>(overlapping), new HashSet<>(found));
    }
  }

  private static boolean overlaps(BufferRange range, long address, long length) {
    return range.address() - address < length && address - range.address() < range.lengthBytes();
  }
}

package org.jofi.mr.cache;

import java.util.ArrayList;
import java.util.List;
import org.jofi.counters.written.CounterBlock;
import org.jofi.counters.written.CounterScope;
import org.jofi.fabric.Access;
import org.jofi.mr.key.KeySource;
import org.jofi.mr.region.RegionSet;
import org.jofi.mr.region.RegistrationRole;
import org.jofi.mr.registration.BufferRange;
import org.jofi.mr.registration.CacheLimits;
import org.jofi.mr.registration.RequestNames;
import org.jofi.mr.scope.DomainScope;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;

/** Lookups, which take no lock, while the one writer changes what they read. */
public class IndexStress {
  private static final long BASE = 0x7f00_0000_0000L;
  private static final int LENGTH = 4096;

  /** Of the table of starts, as long as it is small. */
  private static final int SLOTS = 64;

  private static final DomainScope SCOPE = new DomainScope(1);
  private static final CacheSpace SPACE = new CacheSpace(SCOPE);
  private static final RegistrationCache CACHE =
      new RegistrationCache(
          CacheLimits.OFF,
          () -> 0,
          RequestNames.NONE,
          domain -> new KeySource.ProviderKeys(),
          CounterBlock.unshared(CounterScope.REGISTRATIONS));

  /** Three that belong into the same slot, so that one moves when another goes. */
  private static final List<CachedRegistration> CROWDED = crowded(3);

  private static final CachedRegistration FIRST = CROWDED.getFirst();
  private static final CachedRegistration SECOND = CROWDED.get(1);
  private static final CachedRegistration THIRD = CROWDED.get(2);

  private IndexStress() {}

  private static List<CachedRegistration> crowded(int count) {
    List<CachedRegistration> found = new ArrayList<>();
    int slot = StartTable.home(IntervalIndex.order(BASE), SLOTS);
    for (long address = BASE; found.size() < count; address += LENGTH) {
      if (StartTable.home(IntervalIndex.order(address), SLOTS) == slot) {
        found.add(member(address));
      }
    }
    return found;
  }

  private static CachedRegistration member(long address) {
    RegionSet none =
        RegionSet.open(
            RegistrationRole.LOCAL,
            SCOPE,
            domain -> new KeySource.ProviderKeys(),
            List.of(),
            BufferRange.host(address, LENGTH),
            Access.SEND,
            leftover -> {});
    return new CachedRegistration(CACHE, SPACE, none, null, Access.SEND, address);
  }

  /** What a lookup found: 1 to 3 for the members, 0 for nothing. */
  private static int find(IntervalIndex index, CachedRegistration wanted) {
    CachedRegistration found = index.floor(wanted.first());
    return found == null ? 0 : CROWDED.indexOf(found) + 1;
  }

  /** A member that stays is found, whatever goes and comes before it in its slot. */
  @JCStressTest
  @Outcome(id = "2, 2", expect = Expect.ACCEPTABLE, desc = "found both times")
  @Outcome(expect = Expect.FORBIDDEN, desc = "missed, or another one found")
  @State
  public static class OneThatStays {
    private final IntervalIndex index = new IntervalIndex();

    public OneThatStays() {
      index.insert(FIRST);
      index.insert(SECOND);
    }

    @Actor
    public void change() {
      index.remove(FIRST);
      index.insert(THIRD);
      index.insert(FIRST);
    }

    @Actor
    public void find(II_Result result) {
      result.r1 = IndexStress.find(index, SECOND);
      result.r2 = IndexStress.find(index, SECOND);
    }
  }

  /** One that is inserted is found whole, or not at all; what is near it may be found for it. */
  @JCStressTest
  @Outcome(id = "1", expect = Expect.ACCEPTABLE, desc = "before it was there: the one below")
  @Outcome(id = "2", expect = Expect.ACCEPTABLE, desc = "there")
  @Outcome(expect = Expect.FORBIDDEN, desc = "nothing, though one starts below it")
  @State
  public static class OneThatComes {
    private final IntervalIndex index = new IntervalIndex();

    public OneThatComes() {
      index.insert(FIRST);
    }

    @Actor
    public void insert() {
      index.insert(SECOND);
    }

    @Actor
    public void find(I_Result result) {
      result.r1 = IndexStress.find(index, SECOND);
    }
  }
}

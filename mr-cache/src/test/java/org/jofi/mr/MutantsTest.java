package org.jofi.mr;

import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Stream;
import org.jofi.mr.cache.CacheBoundaryTest;
import org.jofi.mr.cache.CacheConcurrencyTest;
import org.jofi.mr.cache.CacheProperties;
import org.jofi.mr.cache.IntervalIndexProperties;
import org.jofi.mr.cache.StuckRegionsProperties;
import org.jofi.mr.key.KeyPoolProperties;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/** Bugs that others have had, each planted, each found by the suite that is there for it. */
class MutantsTest {
  /** The suites draw their cases at random, and the rarest bugs are not in every draw. */
  private static final int DRAWS = 12;

  /** Of what hangs. */
  private static final Duration LIMIT = Duration.ofMinutes(2);

  private static final Launcher LAUNCHER = LauncherFactory.create();

  static Stream<Mutant> mutants() {
    Class<?> cache = CacheProperties.class;
    Class<?> keys = KeyPoolProperties.class;
    Class<?> graph = OwnershipGraphProperties.class;
    Class<?> index = IntervalIndexProperties.class;
    Class<?> threads = CacheConcurrencyTest.class;
    Class<?> boundary = CacheBoundaryTest.class;
    Class<?> arena = RegisteredArenaTest.class;
    Class<?> teardown = TeardownTest.class;
    return Stream.of(
        // Coverage: whose handle is given.
        new Mutant(
            "ranges are compared by page",
            "CachedRange.java",
            "first <= fromFirst && toLast <= last",
            "first >> 12 <= fromFirst >> 12 && toLast >> 12 <= last >> 12",
            cache),
        new Mutant(
            "the last byte is not compared",
            "CachedRange.java",
            "first <= fromFirst && toLast <= last",
            "first <= fromFirst && fromFirst <= last",
            cache),
        new Mutant(
            "freed and reallocated memory is the same",
            "CachedRange.java",
            " && isOf(id, wanted)",
            "",
            cache),
        new Mutant(
            "host and GPU memory are the same",
            "CacheSpace.java",
            "kind.ordinal() | (long) device << 8 | (dmaBuf",
            "(long) device << 8 | (dmaBuf",
            cache),
        new Mutant(
            "all GPUs are the same",
            "CacheSpace.java",
            "| (long) device << 8 | (dmaBuf",
            "| (dmaBuf",
            cache),
        new Mutant(
            "dma-buf and address are the same",
            "CacheSpace.java",
            "(dmaBuf ? 1L << 40 : 0L)",
            "0L",
            cache),
        new Mutant(
            "access does not matter",
            "CacheSpace.java",
            "partition.code == code && (partition.access & access) == access",
            "partition.code == code",
            cache),
        new Mutant(
            "endpoints share what is bound to one of them",
            "RegistrationCache.java",
            "if (space.scope() == scope) {",
            "if (true) {",
            cache),
        new Mutant(
            "a range within a larger one hides it",
            "CacheSpace.java",
            " && !registration.contains(old)",
            "",
            cache),
        // Lifetime: leases, uses, eviction.
        new Mutant(
            "what is leased is evicted",
            "IdleQueue.java",
            "if (first.closeIfIdle()) {",
            "if (first.closeIfUnused()) {",
            cache),
        new Mutant(
            "most recently used goes first",
            "IdleQueue.java",
            "queue.first()",
            "queue.last()",
            cache),
        new Mutant(
            "recency is when it became idle first",
            "IdleQueue.java",
            "if (first.stamp() != first.queuedStamp) {",
            "if (false) {",
            cache),
        new Mutant(
            "the byte budget is not kept",
            "IdleQueue.java",
            " || bytes > limits.idleBytes()",
            "",
            cache),
        new Mutant(
            "the entry budget is not kept",
            "IdleQueue.java",
            "queue.size() > limits.idleEntries() || ",
            "",
            cache),
        new Mutant(
            "memory of unknown allocations is kept",
            "IdleQueue.java",
            "registration.isOfKnownAllocation()\n        && ",
            "",
            cache),
        new Mutant(
            "a request that finds a registration leases it",
            "RegistrationCache.java",
            "find(range, access, LeaseCount.USE, epoch)",
            "find(range, access, LeaseCount.LEASE, epoch)",
            cache),
        new Mutant(
            "a hit is not counted",
            "LeaseCount.java",
            "getAndAdd(this, HIT + what)",
            "getAndAdd(this, what)",
            cache),
        new Mutant(
            "a hit takes no lease",
            "CacheSpace.java",
            "\n            && near.tryHit(what, epoch)",
            "",
            cache),
        new Mutant(
            "a release drops a use",
            "CachedRegistration.java",
            "drop(LEASE, cache.epoch());",
            "drop(USE, cache.epoch());",
            cache),
        new Mutant(
            "a superseded registration is forgotten",
            "CacheClosings.java",
            "        start(old, victims);\n        return;",
            "        return;",
            cache),
        new Mutant(
            "a superseded registration is kept",
            "RegistrationCache.java",
            "registration.space().isRetired(registration) || ",
            "",
            cache),
        // Closing.
        new Mutant(
            "memory is invalidated under requests",
            "CacheClosings.java",
            "if (!registration.closeIfUnused()) {",
            "registration.closeRegardless();\n      if (false) {",
            cache),
        new Mutant(
            "a refused invalidation leaves some closed",
            "CacheClosings.java",
            "marked.forEach(CachedRegistration::reopen);",
            "",
            cache),
        new Mutant(
            "superseded registrations survive invalidation",
            "CacheSpace.java",
            "        found.add(registration);",
            "",
            cache),
        new Mutant(
            "an overlap at the end is not invalidated",
            "IntervalIndex.java",
            "member.first() <= last && member.last() >= first",
            "member.first() <= first && member.last() >= first",
            cache),
        new Mutant(
            "a closing endpoint does not purge the cache",
            "EndpointScope.java",
            "graph.own(cached, \"cached registrations of \" + rails.label());",
            "",
            cache),
        new Mutant(
            "an endpoint closes before its regions",
            "EndpointScope.java",
            "graph.closesBefore(registration, rail.endpoint());",
            "graph.closesBefore(rail.endpoint(), registration);",
            cache),
        new Mutant(
            "regions close before the endpoint that has receives in them",
            "Teardown.java",
            "      inFlight.cancelReceives();\n      if (drain() > 0) {\n        inFlight.cancelAll();\n"
                + "      }\n    }\n    if (stage == Stage.QUIESCING && drain() > 0) {",
            "    }\n    if (false) {",
            cache),
        new Mutant("an abort does not drain", "Teardown.java", "      left = drain();", "", cache),
        new Mutant(
            "a pool closes before the endpoint in domain scope",
            "DomainScope.java",
            "graph.closesBefore(rail.endpoint(), registration);",
            "graph.closesBefore(registration, rail.endpoint());",
            TeardownOrderProperties.class),
        // Registration.
        new Mutant(
            "data buffers are registered on control rails",
            "EndpointRegistrations.java",
            "cache.acquire(space, dataRails, range, access)",
            "cache.acquire(space, rails.controlRails(), range, access)",
            cache),
        new Mutant(
            "data buffers are registered on control rails too",
            "EndpointRegistrations.java",
            "cache.acquire(space, dataRails, range, access)",
            "cache.acquire(space, all(), range, access)",
            cache),
        new Mutant(
            "mailboxes are registered on data rails",
            "EndpointRegistrations.java",
            "RegistrationRole.CONTROL,\n        rails.controlRails(),",
            "RegistrationRole.CONTROL,\n        rails.dataRails(),",
            cache),
        new Mutant(
            "descriptors of the first rail are used on all rails",
            "RegionSet.java",
            "return descriptors[rail];",
            "return descriptors[0];",
            cache),
        new Mutant(
            "a failure at rail k leaves the rails before it",
            "RegionSet.java",
            "    try {\n      close();\n      return new RegistrationException(message, cause);",
            "    try {\n      return new RegistrationException(message, cause);",
            cache),
        new Mutant(
            "a region that cannot be enabled stays bound",
            "EndpointScope.java",
            "undo.accept(bound::close);",
            "",
            cache),
        new Mutant(
            "a region that cannot be bound stays registered",
            "EndpointScope.java",
            "undo.accept(unbound::close);",
            "",
            cache),
        new Mutant(
            "a failed registration is not tried again",
            "RegionOpenings.java",
            "!isOutOfResources(e) || ",
            "isOutOfResources(e) || ",
            cache),
        new Mutant(
            "every failed registration is tried again",
            "RegionOpenings.java",
            "!isOutOfResources(e) || ",
            "",
            cache),
        new Mutant(
            "the first rail's key is given back on all rails",
            "RegionSet.java",
            "source.giveBack(takenKeys[rail]);",
            "source.giveBack(takenKeys[0]);",
            cache),
        new Mutant(
            "a key is given back before its region is closed",
            "RegionSet.java",
            "    descriptors[index] = region.descriptor();\n",
            "    descriptors[index] = region.descriptor();\n    source.giveBack(takenKeys[index]);\n",
            cache),
        new Mutant(
            "the key of a failed registration is lost",
            "RegionSet.java",
            "if (source == null) {",
            "if (source == null || closers[rail] == null) {",
            KeyConservationProperties.class),
        new Mutant(
            "keys of closed regions are lost",
            "RegionSet.java",
            "source.giveBack(takenKeys[rail]);",
            "",
            KeyConservationProperties.class),
        new Mutant(
            "the key of a half-made region that stays open is given back",
            "RegionSet.java",
            "      closer.run();\n      closers[rail] = null;",
            "      closers[rail] = null;\n      try {\n        closer.run();\n"
                + "      } catch (RuntimeException ignored) {\n      }",
            boundary),
        new Mutant(
            "mailboxes and pools do not make the cache give up what is idle",
            "RegionOpenings.java",
            "!isOutOfResources(e) || ",
            "role != RegistrationRole.DATA || !isOutOfResources(e) || ",
            boundary),
        new Mutant(
            "room is made without end",
            "RegionOpenings.java",
            "tries == MOST_TRIES || ",
            "",
            boundary),
        new Mutant(
            "the same room is made each time",
            "RegionOpenings.java",
            "1 << (4 * (tries - 1))",
            "1",
            boundary),
        new Mutant(
            "what is not needed any more is closed within a completion",
            "LeaseCount.java",
            "becameIdle(what == USE)",
            "becameIdle(false)",
            boundary),
        new Mutant(
            "who registers leaves what is not needed any more",
            "RegistrationCache.java",
            "    settle();\n    Transition opening",
            "    Transition opening",
            boundary),
        new Mutant(
            "one space that refuses keeps the others open",
            "RegistrationCache.java",
            "      } catch (RuntimeException e) {\n        failure = Failures.join(failure, e);\n      }",
            "      } catch (RuntimeException e) {\n        throw e;\n      }",
            boundary),
        new Mutant(
            "a region that stays open is counted as closed",
            "CacheClosings.java",
            "        ledger.stuck.add(victim);\n      } else if (registration != null) {",
            "        ledger.stuck.add(victim);\n      }\n      if (registration != null) {",
            boundary),
        new Mutant(
            "regions that could not be closed are forgotten",
            "CacheClosings.java",
            "        ledger.stuck.add(victim);\n",
            "",
            StuckRegionsProperties.class),
        new Mutant(
            "a closed endpoint registers",
            "EndpointRegistrations.java",
            "    closing = true;\n",
            "",
            teardown),
        new Mutant(
            "a closed device attaches endpoints",
            "RegistrationCache.java",
            "if (ledger.closed) {",
            "if (false) {",
            boundary),
        new Mutant(
            "a device's registrations close before its endpoints",
            "EndpointRegistrations.java",
            "graph.closesBefore(rail.endpoint(), device);",
            "",
            teardown),
        new Mutant(
            "registering goes on while operations drain",
            "Teardown.java",
            "    ownership.accept(graph);\n    stage = Stage.QUIESCING;\n  }",
            "    stage = Stage.QUIESCING;\n  }",
            teardown),
        // Arenas.
        new Mutant(
            "memory of an arena that is being closed can be registered",
            "RegistrationCache.java",
            " || ClosingArenas.isDecided(arena)",
            "",
            arena),
        new Mutant(
            "memory of a closed arena can be registered",
            "RegistrationCache.java",
            "!arena.isAlive() || ",
            "",
            arena),
        new Mutant(
            "a collected arena is every arena",
            "CachedRange.java",
            "wanted != null && mine.refersTo(wanted)",
            "mine.get() == null || mine.refersTo(wanted)",
            arena),
        new Mutant(
            "the memory of a registration that is kept is never collected",
            "RegionOpenings.java",
            "range.withoutScope()",
            "range",
            arena),
        new Mutant(
            "registrations of freed memory are kept",
            "IdleQueue.java",
            "        && !registration.isFreed()\n",
            "",
            cache),
        new Mutant(
            "a second close of an arena reaches who lives there now",
            "RegisteredArena.java",
            "if (memory.scope().isAlive()) {",
            "if (true) {",
            arena),
        // Several threads.
        new Mutant(
            "a last release during a refused invalidation is lost",
            "LeaseCount.java",
            "((before - what) & (TELL | COUNTS)) == TELL",
            "before - what == TELL",
            threads),
        new Mutant(
            "nobody knows of a registration that is being made",
            "RegistrationCache.java",
            "      ledger.begin(opening);\n      counters.missed();",
            "      counters.missed();",
            threads),
        new Mutant(
            "nobody knows of a mailbox that is being made",
            "RegistrationCache.java",
            "refuseWhatIsGone(opening.space(), opening.range());\n      ledger.begin(opening);",
            "refuseWhatIsGone(opening.space(), opening.range());",
            threads),
        new Mutant(
            "nobody knows of a registration that is being closed",
            "CacheClosings.java",
            "    ledger.begin(closing.transition());\n",
            "",
            threads),
        new Mutant(
            "nobody knows of regions that are tried again",
            "CacheClosings.java",
            "        ledger.begin(retry);\n",
            "",
            threads),
        new Mutant(
            "memory is free before those who register it are done",
            "CacheClosings.java",
            "      ledger.awaitNone(concerned, what);\n",
            "",
            threads),
        new Mutant(
            "who finds no room does not wait for it",
            "CacheClosings.java",
            "ledger.awaitThose(Transition::isClosing, what)",
            "false",
            threads),
        new Mutant(
            "an interrupt is swallowed",
            "CacheLedger.java",
            "      Thread.currentThread().interrupt();\n",
            "",
            threads),
        new Mutant(
            "who gave up waiting leaves an arena closed",
            "RegisteredArena.java",
            "        ClosingArenas.remove(memory.scope());\n        throw undone;",
            "        throw undone;",
            threads),
        // The index.
        new Mutant(
            "the chunk before is not looked at",
            "IntervalIndex.java",
            "return before[before.length - 1];",
            "return null;",
            index),
        new Mutant(
            "a full chunk loses its upper half",
            "IntervalIndex.java",
            "Arrays.copyOfRange(grown, half, grown.length));",
            "Arrays.copyOfRange(grown, half, grown.length - 1));",
            index),
        new Mutant(
            "joined chunks bring back what was taken out",
            "IntervalIndex.java",
            ": shrunk;\n    if (low",
            ": now.members[left + 1];\n    if (low",
            index),
        new Mutant(
            "overlaps are sought to the right only",
            "IntervalIndex.java",
            "for (int chunk = start; chunk >= 0; chunk--) {",
            "for (int chunk = start; chunk >= start; chunk--) {",
            index),
        new Mutant(
            "addresses are compared as signed",
            "IntervalIndex.java",
            "return address ^ Long.MIN_VALUE;",
            "return address;",
            index),
        new Mutant(
            "what was taken out is still found by its start",
            "IntervalIndex.java",
            "    starts.remove(member);",
            "",
            index),
        // Keys.
        new Mutant(
            "keys are wider than negotiated",
            "KeyPool.java",
            "1L << (8 * widthBytes)",
            "1L << (8 * widthBytes + 1)",
            keys),
        new Mutant(
            "keys are counted up", "KeyPool.java", "random.nextLong(next, bound)", "next", keys),
        new Mutant(
            "a key is drawn twice", "KeyPool.java", "displaced.put(place, moved);", "", keys),
        new Mutant(
            "an exhausted pool gives a live key",
            "KeyPool.java",
            "throw new KeysExhaustedException(domain, widthBytes, live.size());",
            "key = 0;",
            keys),
        new Mutant(
            "a key can be given back twice",
            "KeyPool.java",
            "if (!live.remove(key)) {",
            "live.remove(key);\n    if (false) {",
            keys),
        new Mutant(
            "a key is used again at once",
            "KeyPool.java",
            "if (next < bound && resting.size() <= RESTING) {",
            "if (next < bound && resting.isEmpty()) {",
            keys),
        // Order of closing.
        new Mutant(
            "things close as they were added",
            "OwnershipGraph.java",
            "if (node.earlier.stream().noneMatch(waiting::contains)) {",
            "if (true) {",
            graph),
        new Mutant(
            "what waits for a thing that refused is closed",
            "OwnershipGraph.java",
            "if (node.earlier.stream().anyMatch(Node::isOpen)) {",
            "if (false) {",
            graph),
        new Mutant(
            "one refusal ends the closing",
            "OwnershipGraph.java",
            "failures.add(e);",
            "failures.add(e);\n        break;",
            graph),
        new Mutant(
            "what is closed is closed again",
            "OwnershipGraph.java",
            "return owned && !closed;",
            "return owned;",
            graph));
  }

  /** What is tried in any run: the first of each suite. */
  static Collection<Mutant> samples() {
    Map<Class<?>, Mutant> first = new LinkedHashMap<>();
    mutants().forEach(mutant -> first.putIfAbsent(mutant.suite(), mutant));
    return first.values();
  }

  static Stream<Mutant> others() {
    Collection<Mutant> samples = samples();
    return mutants().filter(mutant -> !samples.contains(mutant));
  }

  @Test
  void eachHasItsPlace() {
    mutants().forEach(mutant -> assertNotEquals(mutant.sound(), mutant.broken(), mutant::bug));
  }

  @ParameterizedTest
  @MethodSource("samples")
  void oneOfEachSuiteDies(Mutant mutant) throws ClassNotFoundException {
    dies(mutant);
  }

  @ParameterizedTest
  @MethodSource("others")
  @Tag("long")
  void allOthersDie(Mutant mutant) throws ClassNotFoundException {
    dies(mutant);
  }

  private static void dies(Mutant mutant) throws ClassNotFoundException {
    Class<?> suite = mutant.load();
    for (int draw = 0; draw < DRAWS; draw++) {
      TestExecutionSummary summary = assertTimeoutPreemptively(LIMIT, () -> run(suite));
      assertTrue(summary.getTestsFoundCount() > 0, "the suite has no tests");
      if (summary.getTestsFailedCount() > 0) {
        return;
      }
    }
    fail("'%s' survived %d runs of %s".formatted(mutant, DRAWS, suite.getSimpleName()));
  }

  private static TestExecutionSummary run(Class<?> suite) {
    SummaryGeneratingListener listener = new SummaryGeneratingListener();
    LauncherDiscoveryRequest request =
        LauncherDiscoveryRequestBuilder.request()
            .selectors(selectClass(suite))
            .configurationParameter("jqwik.shrinking.default", "OFF")
            .configurationParameter("jqwik.database", "")
            .configurationParameter("jqwik.reporting.usejunitplatform", "true")
            .build();
    LAUNCHER.execute(request, listener);
    return listener.getSummary();
  }
}

package org.jofi.simulated;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.function.IntSupplier;
import org.jofi.fabric.Access;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.MemoryRegion;
import org.jofi.fabric.PostFlags;
import org.jofi.fabric.RegionRequest;
import org.jofi.fabric.RegistrationScope;
import org.jofi.simulated.profile.Profile;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What becomes of data when something goes away while it lands. */
class MidLandingTest {
  private static final int BYTES = 4096;
  private static final int KEY = 7;

  private static void post(Pair pair, IntSupplier call) {
    int result = call.getAsInt();
    while (result == -FabricErrno.EAGAIN) {
      pair.simulation.idle();
      result = call.getAsInt();
    }
    assertEquals(0, result);
  }

  private static MemoryRegion registerWithKey(Node node, MemorySegment memory) {
    RegionRequest request = RegionRequest.host(memory, Access.ALL).withRequestedKey(KEY);
    return node.info.registrationScope() == RegistrationScope.DOMAIN
        ? node.domain.register(request)
        : node.domain.registerForEndpoint(request).bind(node.endpoint).enable();
  }

  /** Steps until the first piece has landed; false if all came at once. */
  private static boolean untilHalfIn(Pair pair, MemorySegment window) {
    for (int steps = 0; steps < 10_000; steps++) {
      pair.simulation.idle();
      pair.right.poll();
      long landed = landed(window);
      if (landed > 0) {
        return landed < BYTES;
      }
    }
    throw new AssertionError("nothing landed");
  }

  private static long landed(MemorySegment window) {
    long landed = 0;
    for (long i = 0; i < BYTES; i++) {
      landed += window.get(ValueLayout.JAVA_BYTE, i);
    }
    return landed;
  }

  private static void write(Pair pair, MemorySegment from, MemoryRegion region, long base) {
    MemoryRegion source = pair.left.register(from, Access.LOCAL);
    long key = region.key();
    post(
        pair,
        () ->
            pair.left.endpoint.write(
                from.address(),
                BYTES,
                source.descriptor(),
                0,
                base,
                key,
                1,
                PostFlags.DELIVERY_COMPLETE));
  }

  @ParameterizedTest
  @ValueSource(strings = {"cxi-client-key", "tcp"})
  void closedRegionsStayUntouchedWhenTheirKeyIsUsedAgain(String profile) {
    int closed = 0;
    for (long seed = 1; seed <= 50; seed++) {
      long of = seed;
      try (Pair pair = new Pair(Profile.named(profile), builder -> builder.seed(of))) {
        MemorySegment out = pair.memory(BYTES);
        out.fill((byte) 1);
        MemorySegment window = pair.memory(BYTES);
        MemorySegment other = pair.memory(BYTES);
        MemoryRegion region = registerWithKey(pair.right, window);
        write(pair, out, region, 0);
        if (!untilHalfIn(pair, window)) {
          continue;
        }
        closed++;
        region.close();
        long landed = landed(window);
        registerWithKey(pair.right, other);
        pair.settle();
        assertEquals(landed, landed(window), "bytes that landed, seed " + seed);
        assertEquals(0, landed(other), "bytes in the wrong region, seed " + seed);
        assertEquals(
            Profile.named(profile).errors().badRegion(), pair.left.of(1).errno(), "seed " + seed);
      }
    }
    assertTrue(closed > 10, closed + " regions closed in time");
  }

  @ParameterizedTest
  @ValueSource(strings = {"efa", "cxi", "cxi-client-key", "tcp"})
  void railsThatDieAreSaidToBeOutOfReach(String name) {
    Profile profile = Profile.named(name);
    int killed = 0;
    for (long seed = 1; seed <= 50; seed++) {
      long of = seed;
      try (Pair pair = new Pair(profile, builder -> builder.seed(of))) {
        MemorySegment out = pair.memory(BYTES);
        out.fill((byte) 1);
        MemorySegment window = pair.memory(BYTES);
        MemoryRegion region = pair.right.register(window, Access.ALL);
        write(pair, out, region, pair.right.base(window));
        if (!untilHalfIn(pair, window)) {
          continue;
        }
        killed++;
        long start = pair.simulation.nanoTime();
        pair.simulation.host(1).nic(0).kill();
        while (!pair.left.has(1)) {
          pair.simulation.idle();
          pair.left.poll();
        }
        assertEquals(profile.errors().unreachable(), pair.left.of(1).errno(), "seed " + seed);
        long took = pair.simulation.nanoTime() - start;
        assertTrue(took >= profile.behaviour().peerTimeoutNanos(), took + " ns");
        assertTrue(took < Duration.ofSeconds(1).toNanos(), took + " ns");
      }
    }
    assertTrue(killed > 10, killed + " rails killed in time");
  }

  @ParameterizedTest
  @ValueSource(strings = {"efa", "tcp"})
  void closedEndpointsAreSaidToBeGone(String name) {
    Profile profile = Profile.named(name);
    int closed = 0;
    for (long seed = 1; seed <= 50; seed++) {
      long of = seed;
      try (Pair pair = new Pair(profile, builder -> builder.seed(of))) {
        MemorySegment out = pair.memory(BYTES);
        out.fill((byte) 1);
        MemorySegment window = pair.memory(BYTES);
        MemoryRegion region = pair.right.register(window, Access.ALL);
        write(pair, out, region, pair.right.base(window));
        if (!untilHalfIn(pair, window)) {
          continue;
        }
        closed++;
        pair.right.endpoint.close();
        pair.simulation.settle();
        pair.left.poll();
        assertEquals(profile.errors().peerGone(), pair.left.of(1).errno(), "seed " + seed);
      }
    }
    assertTrue(closed > 10, closed + " endpoints closed in time");
  }

  @ParameterizedTest
  @ValueSource(strings = {"efa", "cxi", "cxi-client-key", "tcp"})
  void readersThatDieAreOutOfReach(String name) {
    Profile profile = Profile.named(name);
    for (long seed = 1; seed <= 20; seed++) {
      long of = seed;
      try (Pair pair = new Pair(profile, builder -> builder.seed(of))) {
        MemorySegment in = pair.memory(BYTES);
        MemorySegment window = pair.memory(BYTES);
        MemoryRegion into = pair.left.register(in, Access.LOCAL);
        MemoryRegion region = pair.right.register(window, Access.ALL);
        long base = pair.right.base(window);
        long key = region.key();
        post(
            pair,
            () -> pair.left.endpoint.read(in.address(), BYTES, into.descriptor(), 0, base, key, 1));
        for (long steps = 0; steps < 1 + of % 4 && !pair.left.has(1); steps++) {
          pair.simulation.idle();
          pair.right.poll();
        }
        pair.simulation.host(0).nic(0).kill();
        pair.settle();
        assertEquals(profile.errors().unreachable(), pair.left.of(1).errno(), "seed " + seed);
      }
    }
  }
}

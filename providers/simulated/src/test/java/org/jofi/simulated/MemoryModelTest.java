package org.jofi.simulated;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashSet;
import java.util.Set;
import org.jofi.fabric.Access;
import org.jofi.fabric.CompletionQueue;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.MemoryKind;
import org.jofi.fabric.MemoryRegion;
import org.jofi.fabric.PostFlags;
import org.jofi.fabric.RegionRequest;
import org.jofi.simulated.fault.Fault;
import org.jofi.simulated.fault.FaultPlan;
import org.jofi.simulated.profile.Profile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What lands when, as a NIC has it; and fabrics that break their word on demand. */
class MemoryModelTest {
  private static final int BYTES = 1024;

  /** A pair with a source of ones on the left and a window of zeros on the right. */
  private static final class Setting implements AutoCloseable {
    final Pair pair;
    final MemorySegment source;
    final MemorySegment window;
    final MemoryRegion local;
    final MemoryRegion remote;

    Setting(Profile profile, long seed, FaultPlan faults) {
      pair = new Pair(profile, builder -> builder.seed(seed).faults(faults));
      source = pair.memory(BYTES);
      window = pair.memory(2 * BYTES);
      source.fill((byte) 1);
      local = pair.left.register(source, Access.ALL);
      remote = pair.right.register(window, Access.ALL);
    }

    int write(long bytes, long flags, int context) {
      return posted(
          () ->
              pair.left.endpoint.write(
                  source.address(),
                  bytes,
                  local.descriptor(),
                  0,
                  pair.right.base(window),
                  remote.key(),
                  context,
                  flags));
    }

    /** A write to the second half of the window that completes when it is delivered. */
    int writeDelivered(int context) {
      return posted(
          () ->
              pair.left.endpoint.write(
                  source.address(),
                  BYTES,
                  local.descriptor(),
                  0,
                  pair.right.base(window) + BYTES,
                  remote.key(),
                  context,
                  PostFlags.DELIVERY_COMPLETE));
    }

    int writeData(long bytes, long data, long flags, int context) {
      return posted(
          () ->
              pair.left.endpoint.writeData(
                  source.address(),
                  bytes,
                  local.descriptor(),
                  data,
                  0,
                  pair.right.base(window),
                  remote.key(),
                  context,
                  flags));
    }

    int posted(java.util.function.IntSupplier post) {
      int result = post.getAsInt();
      while (result == -FabricErrno.EAGAIN) {
        pair.simulation.idle();
        result = post.getAsInt();
      }
      return result;
    }

    boolean landed(long from, long bytes) {
      for (long i = from; i < from + bytes; i++) {
        if (window.get(ValueLayout.JAVA_BYTE, i) != 1) {
          return false;
        }
      }
      return true;
    }

    int piecesLanded() {
      int landed = 0;
      for (long i = 0; i < BYTES; i += 64) {
        landed += landed(i, 64) ? 1 : 0;
      }
      return landed;
    }

    @Override
    public void close() {
      pair.close();
    }
  }

  @Test
  void writesLandInWholePiecesInAnyOrder() {
    Set<Integer> counts = new HashSet<>();
    boolean laterPieceFirst = false;
    for (long seed = 1; seed <= 50; seed++) {
      try (Setting setting = new Setting(Profile.EFA, seed, FaultPlan.none())) {
        assertEquals(0, setting.write(BYTES, PostFlags.NONE, 1));
        while (setting.piecesLanded() < BYTES / 64) {
          setting.pair.simulation.idle();
          int whole = setting.piecesLanded();
          counts.add(whole);
          laterPieceFirst |= whole > 0 && !setting.landed(0, 64);
          for (long i = 0; i < BYTES; i += 64) {
            byte first = setting.window.get(ValueLayout.JAVA_BYTE, i);
            assertEquals(first == 1, setting.landed(i, 64), "a piece landed in part");
          }
        }
      }
    }
    // Up to four batches of 16 pieces can stop at seven counts.
    assertEquals(Set.of(0, 4, 5, 8, 10, 12, 16), counts);
    assertTrue(laterPieceFirst, "the first piece always landed first");
  }

  @ParameterizedTest
  @ValueSource(strings = {"efa", "cxi", "cxi-client-key", "tcp"})
  void localCompletionSaysNothingOfTheTargetUnlessAsked(String name) {
    Profile profile = Profile.named(name);
    int early = 0;
    for (long seed = 1; seed <= 100; seed++) {
      try (Setting setting = new Setting(profile, seed, FaultPlan.none())) {
        assertEquals(0, setting.write(BYTES, PostFlags.NONE, 1));
        assertEquals(0, setting.writeDelivered(2));
        boolean sawPlain = false;
        while (!setting.pair.left.has(2)) {
          setting.pair.simulation.idle();
          setting.pair.right.poll();
          setting.pair.left.poll();
          if (!sawPlain && setting.pair.left.has(1)) {
            sawPlain = true;
            early += setting.landed(0, BYTES) ? 0 : 1;
          }
        }
        assertTrue(setting.landed(BYTES, BYTES), "delivery complete, and not there");
      }
    }
    assertTrue(early > 0, "a plain write was always there when it completed");
  }

  @ParameterizedTest
  @ValueSource(strings = {"efa", "cxi", "tcp"})
  void immediateDataComesAfterItsOwnData(String name) {
    for (long seed = 1; seed <= 100; seed++) {
      try (Setting setting = new Setting(Profile.named(name), seed, FaultPlan.survivable())) {
        assertEquals(0, setting.writeData(BYTES, 0xABCD_1234L, PostFlags.NONE, 1));
        while (!setting.pair.right.has(CompletionQueue.NO_CONTEXT)) {
          setting.pair.simulation.idle();
          setting.pair.right.poll();
        }
        assertTrue(setting.landed(0, BYTES), "told before it was there");
        Node.Done arrival = setting.pair.right.of(CompletionQueue.NO_CONTEXT);
        assertEquals(0xABCD_1234L, arrival.data());
        assertEquals(BYTES, arrival.bytes());
      }
    }
  }

  @Test
  void efaCarriesFourBytesOfImmediateData() {
    try (Setting setting = new Setting(Profile.EFA, 1, FaultPlan.none())) {
      assertEquals(0, setting.writeData(8, 0x1_2345_6789L, PostFlags.NONE, 1));
      setting.pair.settle();
      assertEquals(0x2345_6789L, setting.pair.right.of(CompletionQueue.NO_CONTEXT).data());
    }
  }

  @Test
  void onlyCxiWithItsSwitchAndProviderKeysWritesData() {
    try (Setting client = new Setting(Profile.CXI_CLIENT_KEY, 1, FaultPlan.none());
        Setting off = new Setting(Profile.CXI.withWriteData(false), 1, FaultPlan.none())) {
      assertEquals(-FabricErrno.ENOSYS, client.writeData(8, 1, PostFlags.NONE, 1));
      assertEquals(-FabricErrno.ENOSYS, off.writeData(8, 1, PostFlags.NONE, 1));
    }
  }

  @Test
  void tcpTargetMustPoll() {
    try (Setting setting = new Setting(Profile.TCP, 1, FaultPlan.none())) {
      assertEquals(0, setting.write(BYTES, PostFlags.DELIVERY_COMPLETE, 1));
      setting.pair.simulation.settle();
      setting.pair.left.poll();
      assertFalse(setting.pair.left.has(1), "served without a poll");
      assertFalse(setting.landed(0, 1));
      setting.pair.right.poll();
      setting.pair.simulation.settle();
      setting.pair.left.poll();
      assertEquals(0, setting.pair.left.of(1).errno());
      assertTrue(setting.landed(0, BYTES));
    }
  }

  @Test
  void droppedWriteReportsSuccessAndNothingArrives() {
    try (Setting setting = broken(Fault.DROPPED_WRITE)) {
      setting.pair.settle();
      assertEquals(0, setting.pair.left.of(1).errno());
      assertEquals(0, setting.piecesLanded());
    }
  }

  @Test
  void misplacedWriteLandsElsewhere() {
    try (Setting setting = broken(Fault.MISPLACED_WRITE)) {
      setting.pair.settle();
      assertEquals(0, setting.pair.left.of(1).errno());
      assertFalse(setting.landed(0, 64));
      assertTrue(setting.landed(64, BYTES));
    }
  }

  @Test
  void partialWriteLandsInHalf() {
    try (Setting setting = broken(Fault.PARTIAL_WRITE)) {
      setting.pair.settle();
      assertEquals(0, setting.pair.left.of(1).errno());
      assertEquals(BYTES / 64 / 2, setting.piecesLanded());
    }
  }

  @Test
  void earlyCompletionComesBeforeTheData() {
    try (Setting setting = broken(Fault.EARLY_COMPLETION)) {
      while (!setting.pair.left.has(1)) {
        setting.pair.simulation.idle();
        setting.pair.left.poll();
      }
      assertEquals(0, setting.piecesLanded(), "delivered already");
      setting.pair.settle();
      assertTrue(setting.landed(0, BYTES));
    }
  }

  @Test
  void lostConnectionsReportSuccessOfPlainWrites() {
    FaultPlan plan = FaultPlan.none().with(Fault.LOST_CONNECTION, 1);
    try (Setting setting = new Setting(Profile.TCP, 1, plan)) {
      assertEquals(0, setting.write(BYTES, PostFlags.NONE, 1));
      assertEquals(0, setting.write(BYTES, PostFlags.DELIVERY_COMPLETE, 2));
      setting.pair.settle();
      assertEquals(0, setting.pair.left.of(1).errno());
      assertEquals(FabricErrno.ECANCELED, setting.pair.left.of(2).errno());
      assertEquals(0, setting.piecesLanded());
    }
  }

  @Test
  void deviceMemoryIsStaleUntilAReadThroughItsNic() {
    FaultPlan plan = FaultPlan.none().with(Fault.STALE_UNTIL_FLUSH);
    try (Pair pair = new Pair(Profile.EFA, builder -> builder.faults(plan))) {
      MemorySegment source = pair.memory(BYTES);
      source.fill((byte) 1);
      MemorySegment device = pair.simulation.host(1).allocateDevice(MemoryKind.CUDA, BYTES);
      MemoryRegion local = pair.left.register(source, Access.ALL);
      MemoryRegion remote =
          pair.right.register(
              RegionRequest.device(MemoryKind.CUDA, 0, device.address(), BYTES, Access.ALL));
      assertEquals(
          0,
          pair.left.endpoint.writeData(
              source.address(),
              BYTES,
              local.descriptor(),
              5,
              0,
              pair.right.base(device),
              remote.key(),
              1,
              PostFlags.DELIVERY_COMPLETE));
      pair.settle();
      assertEquals(5, pair.right.of(CompletionQueue.NO_CONTEXT).data());
      assertEquals(0, device.get(ValueLayout.JAVA_BYTE, 0), "visible before the flush");

      MemorySegment landing = pair.memory(64);
      MemoryRegion flush = pair.right.register(landing, Access.LOCAL);
      long self = pair.right.know(pair.right);
      assertEquals(
          0,
          pair.right.endpoint.read(
              landing.address(),
              8,
              flush.descriptor(),
              self,
              pair.right.base(device),
              remote.key(),
              2));
      pair.settle();
      assertEquals(0, pair.right.of(2).errno());
      assertEquals(-1, device.mismatch(source));
      assertEquals(1, landing.get(ValueLayout.JAVA_BYTE, 7), "the read saw stale data");
    }
  }

  /** A setting in which that fault strikes each write, with one write posted. */
  private static Setting broken(Fault fault) {
    Setting setting = new Setting(Profile.EFA, 1, FaultPlan.none().with(fault));
    assertEquals(0, setting.write(BYTES, PostFlags.DELIVERY_COMPLETE, 1));
    return setting;
  }
}

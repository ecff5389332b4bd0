package org.jofi.simulated;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.function.IntSupplier;
import org.jofi.fabric.Access;
import org.jofi.fabric.AddressVector;
import org.jofi.fabric.CompletionFlags;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricHints;
import org.jofi.fabric.FabricProvider;
import org.jofi.fabric.MemoryRegion;
import org.jofi.fabric.MessageOrder;
import org.jofi.simulated.fault.Fault;
import org.jofi.simulated.fault.FaultPlan;
import org.jofi.simulated.profile.Profile;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What was negotiated to stay in order does, whatever happens to the target. */
class OrderTest {
  private static final int SEEDS = 20;
  private static final int OPERATIONS = 20;

  /** What happens to the target meanwhile. */
  enum Trouble {
    NONE,
    STALL,
    /** A second stall that begins before the first one is over. */
    LONGER_STALL,
    /** It does not poll until all is posted. */
    LATE_POLL
  }

  /** Two sides that negotiated an order, or none. */
  private static final class Sides implements AutoCloseable {
    final Simulation simulation;
    final Arena memory = Arena.ofConfined();
    final Node left;
    final Node right;

    Sides(Profile profile, long seed, Set<MessageOrder> orders) {
      FaultPlan plan = FaultPlan.none().with(Fault.REORDER_WITHIN_RAIL, 0.5);
      simulation = Simulation.of(profile).seed(seed).faults(plan).open();
      FabricHints hints = FabricHints.any().withMessageOrder(orders);
      FabricProvider from = simulation.host(0).provider();
      FabricProvider to = simulation.host(1).provider();
      left = new Node(from, from.discover(hints).getFirst(), 64);
      right = new Node(to, to.discover(hints).getFirst(), 64);
      left.know(right);
    }

    void post(IntSupplier call) {
      int result = call.getAsInt();
      while (result == -FabricErrno.EAGAIN) {
        simulation.idle();
        result = call.getAsInt();
      }
      assertEquals(0, result);
    }

    void trouble(Trouble trouble, int posted) {
      boolean first = posted == 0;
      boolean again = posted == OPERATIONS / 2;
      if ((trouble == Trouble.STALL || trouble == Trouble.LONGER_STALL) && first) {
        simulation.host(1).nic(0).stall(Duration.ofNanos(10_000));
      }
      if (trouble == Trouble.LONGER_STALL && again) {
        simulation.idle();
        simulation.host(1).nic(0).stall(Duration.ofMillis(1));
      }
      if (trouble != Trouble.LATE_POLL) {
        simulation.idle();
        right.poll();
      }
    }

    void settle() {
      int polled;
      do {
        simulation.settle();
        polled = left.poll() + right.poll();
      } while (polled > 0 || !simulation.isQuiet());
    }

    List<Long> arrived() {
      return right.done.stream().map(Node.Done::data).toList();
    }

    @Override
    public void close() {
      simulation.close();
      memory.close();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "cxi, SAS, NONE",
    "cxi, SAS, STALL",
    "cxi, WAW, NONE",
    "cxi, WAW, STALL",
    "cxi, WAW, LONGER_STALL",
    "efa, SAS, LONGER_STALL",
    "tcp, SAS, NONE",
    "tcp, SAS, LATE_POLL",
    "tcp, WAW, NONE",
    "tcp, WAW, STALL",
    "tcp, WAW, LONGER_STALL",
    "tcp, WAW, LATE_POLL"
  })
  void oneKindStaysInOrder(String profile, MessageOrder order, Trouble trouble) {
    assertEquals(0, outOfOrder(profile, order, Set.of(order), trouble));
    // Without the promise it comes otherwise, so that the above means something.
    assertNotEquals(0, outOfOrder(profile, order, Set.of(), trouble));
  }

  /** In how many runs messages or writes come out of order. */
  private static int outOfOrder(
      String profile, MessageOrder what, Set<MessageOrder> orders, Trouble trouble) {
    int runs = 0;
    for (long seed = 1; seed <= SEEDS; seed++) {
      try (Sides sides = new Sides(Profile.named(profile), seed, orders)) {
        MemorySegment window = sides.memory.allocate(64, 64);
        MemoryRegion region = sides.right.register(window, Access.REMOTE_WRITE);
        long base = sides.right.base(window);
        for (int i = 0; i < OPERATIONS; i++) {
          int number = i;
          if (what == MessageOrder.SAS) {
            assertEquals(0, sides.right.endpoint.recv(0, 0, 0, AddressVector.ANY, i));
            sides.post(() -> sides.left.endpoint.sendData(0, 0, 0, number, 0, number));
          } else {
            sides.post(
                () ->
                    sides.left.endpoint.writeData(
                        0, 0, 0, number, 0, base, region.key(), number, 0));
          }
          sides.trouble(trouble, i);
        }
        sides.settle();
        List<Long> data = sides.arrived();
        assertEquals(OPERATIONS, data.size());
        runs += data.equals(data.stream().sorted().toList()) ? 0 : 1;
      }
    }
    return runs;
  }

  @ParameterizedTest
  @CsvSource({"NONE", "STALL", "LATE_POLL"})
  void readsSeeTheWritesBeforeThem(Trouble trouble) {
    assertEquals(0, staleReads(Set.of(MessageOrder.RAW), trouble));
    assertNotEquals(0, staleReads(Set.of(), trouble));
  }

  /** In how many runs a read misses some of the write before it. */
  private static int staleReads(Set<MessageOrder> orders, Trouble trouble) {
    int bytes = 4096;
    int runs = 0;
    for (long seed = 1; seed <= SEEDS; seed++) {
      try (Sides sides = new Sides(Profile.TCP, seed, orders)) {
        MemorySegment out = sides.memory.allocate(bytes, 64);
        MemorySegment in = sides.memory.allocate(bytes, 64);
        MemorySegment window = sides.memory.allocate(bytes, 64);
        out.fill((byte) 1);
        MemoryRegion source = sides.left.register(out, Access.LOCAL);
        MemoryRegion into = sides.left.register(in, Access.LOCAL);
        MemoryRegion region = sides.right.register(window, Access.ALL);
        sides.post(
            () ->
                sides.left.endpoint.write(
                    out.address(), bytes, source.descriptor(), 0, 0, region.key(), 1, 0));
        sides.post(
            () ->
                sides.left.endpoint.read(
                    in.address(), bytes, into.descriptor(), 0, 0, region.key(), 2));
        sides.trouble(trouble, 0);
        sides.settle();
        assertEquals(0, sides.left.of(2).errno());
        runs += in.mismatch(out) == -1 ? 0 : 1;
      }
    }
    return runs;
  }

  @ParameterizedTest
  @CsvSource({"NONE", "STALL", "LATE_POLL"})
  void messagesComeAfterTheWritesBeforeThem(Trouble trouble) {
    assertEquals(0, earlyMessages(Set.of(MessageOrder.SAW), trouble));
    assertNotEquals(0, earlyMessages(Set.of(), trouble));
  }

  /** In how many runs a message is told of before the write before it has landed. */
  private static int earlyMessages(Set<MessageOrder> orders, Trouble trouble) {
    int bytes = 4096;
    int runs = 0;
    for (long seed = 1; seed <= SEEDS; seed++) {
      try (Sides sides = new Sides(Profile.TCP, seed, orders)) {
        MemorySegment out = sides.memory.allocate(bytes, 64);
        MemorySegment window = sides.memory.allocate(bytes, 64);
        out.fill((byte) 1);
        MemoryRegion source = sides.left.register(out, Access.LOCAL);
        MemoryRegion region = sides.right.register(window, Access.ALL);
        assertEquals(0, sides.right.endpoint.recv(0, 0, 0, AddressVector.ANY, 3));
        sides.post(
            () ->
                sides.left.endpoint.write(
                    out.address(), bytes, source.descriptor(), 0, 0, region.key(), 1, 0));
        sides.post(() -> sides.left.endpoint.send(0, 0, 0, 0, 2));
        sides.trouble(trouble, 0);
        if (trouble == Trouble.LATE_POLL) {
          sides.simulation.settle();
        }
        while (!sides.right.has(3)) {
          sides.simulation.idle();
          sides.right.poll();
        }
        runs += window.mismatch(out) == -1 ? 0 : 1;
        sides.settle();
        assertEquals(CompletionFlags.MSG | CompletionFlags.RECV, sides.right.of(3).flags());
        assertEquals(1, window.get(ValueLayout.JAVA_BYTE, bytes - 1));
      }
    }
    return runs;
  }
}

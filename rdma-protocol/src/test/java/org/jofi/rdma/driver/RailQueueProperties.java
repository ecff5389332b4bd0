package org.jofi.rdma.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.jofi.counters.written.CounterBlock;
import org.jofi.counters.written.CounterScope;
import org.jofi.counters.written.CounterType;
import org.jofi.fabric.CompletionFlags;
import org.jofi.fabric.FabricHints;
import org.jofi.rdma.nic.ArrivalSink;
import org.jofi.rdma.nic.ContextTable;
import org.jofi.rdma.nic.OperationOwner;
import org.jofi.rdma.nic.RailPort;
import org.jofi.rdma.nic.RailQueue;
import org.jofi.simulated.Simulation;
import org.jofi.simulated.profile.Profile;
import org.jofi.transport.Failure;

/**
 * P16: an entry that tells of this side's operation is never an arrival, and an arrival never ends
 * an operation of this side, but for the receive that it used up.
 */
class RailQueueProperties {
  private static final int SLOTS = 8;

  /** What providers report, with the flags that some of them set besides. */
  enum Entry {
    /** An operation of this side, of whatever kind, whose own immediate data is told as well. */
    OWN,
    /** A peer's write with immediate data, with no context. */
    ARRIVAL,
    /** The same with the context of an operation of this side, under way or not (efa). */
    ARRIVAL_NAMING_AN_OPERATION,
    /** The same, for which a receive was used up. */
    ARRIVAL_IN_A_RECEIVE,
    /** A message in a receive. */
    MESSAGE
  }

  record Step(Entry entry, int which, boolean data, boolean more) {}

  @Provide
  Arbitrary<List<Step>> steps() {
    return Combinators.combine(
            Arbitraries.of(Entry.class),
            Arbitraries.integers().between(0, 2 * SLOTS),
            Arbitraries.of(true, false),
            Arbitraries.of(true, false))
        .as(Step::new)
        .list()
        .ofMaxSize(100);
  }

  private final List<Long> arrived = new ArrayList<>();
  private final List<Long> ended = new ArrayList<>();

  private final ArrivalSink arrivals =
      new ArrivalSink() {
        @Override
        public void immediate(long data) {
          arrived.add(data);
        }

        @Override
        public void message(MemorySegment memory, long lengthBytes) {
          throw new AssertionError("a queue delivers none");
        }

        @Override
        public void broken(Failure why) {
          throw new AssertionError(why.toString());
        }
      };

  private final OperationOwner owner =
      new OperationOwner() {
        @Override
        public void completed(long cookie, long lengthBytes) {
          ended.add(cookie);
        }

        @Override
        public void failed(long cookie, RailPort port, Failure why) {
          throw new AssertionError("nothing fails");
        }

        @Override
        public void lost(long cookie, RailPort port, Failure why) {
          throw new AssertionError(why.toString());
        }
      };

  private final CounterBlock counters = CounterBlock.unshared(CounterScope.RAIL);

  @Property(tries = 300)
  void ownEntriesAreNoArrivalsAndArrivalsEndNoOperation(@ForAll("steps") List<Step> steps) {
    arrived.clear();
    ended.clear();
    counters.set(CounterType.COMPLETIONS_ORPHANED, 0);
    counters.set(CounterType.IMMEDIATES_ARRIVED, 0);
    try (Simulation simulation = Simulation.of(Profile.EFA).open()) {
      var provider = simulation.host(0).provider();
      try (var fabric = provider.open(provider.discover(FabricHints.any()).getFirst());
          var domain = fabric.openDomain()) {
        RailQueue queue = new RailQueue("queue", domain, 4096, SLOTS, arrivals, counters);
        deliver(queue, steps);
        queue.queue().close();
      }
    }
  }

  private void deliver(RailQueue queue, List<Step> steps) {
    ContextTable operations = queue.operations();
    ContextTable receives = queue.receives();
    var posted = new ArrayDeque<Integer>();
    var received = new ArrayDeque<Integer>();
    var shouldArrive = new ArrayList<Long>();
    var shouldEnd = new ArrayList<Long>();
    long orphans = 0;
    long number = 0;
    for (Step step : steps) {
      while (posted.size() < SLOTS) {
        posted.add(operations.take(owner, number++, 0));
      }
      // Receives have slots of their own: operations cannot starve them.
      assertEquals(ContextTable.NONE, operations.take(owner, number, 0));
      while (received.size() < SLOTS) {
        received.add(receives.take(owner, number++, 0));
      }
      long data = ++number;
      switch (step.entry()) {
        case OWN -> {
          int context = posted.remove();
          shouldEnd.add(operations.cookie(context));
          long flags =
              switch (step.which() % 4) {
                case 0 -> CompletionFlags.MSG | CompletionFlags.SEND;
                case 1 -> CompletionFlags.RMA | CompletionFlags.WRITE;
                case 2 -> CompletionFlags.RMA | CompletionFlags.READ;
                default -> CompletionFlags.WRITE;
              };
          queue.completed(context, flags | with(step.data()), 0, data);
        }
        case ARRIVAL -> {
          shouldArrive.add(data);
          queue.completed(-1, arrival(step), 0, data);
        }
        case ARRIVAL_NAMING_AN_OPERATION -> {
          shouldArrive.add(data);
          queue.completed(operations.first() + step.which() % SLOTS, arrival(step), 0, data);
        }
        case ARRIVAL_IN_A_RECEIVE -> {
          int context = received.remove();
          shouldArrive.add(data);
          shouldEnd.add(receives.cookie(context));
          queue.completed(context, arrival(step) | CompletionFlags.RECV, 0, data);
        }
        case MESSAGE -> {
          int context = received.remove();
          shouldEnd.add(receives.cookie(context));
          queue.completed(context, CompletionFlags.MSG | CompletionFlags.RECV, 64, data);
        }
      }
      // An operation that has ended does not end again.
      if (step.more() && step.entry() == Entry.OWN) {
        queue.completed(firstFree(operations, posted), CompletionFlags.WRITE, 0, data);
        orphans++;
      }
    }
    assertEquals(shouldArrive, arrived);
    assertEquals(arrived.size(), counters.get(CounterType.IMMEDIATES_ARRIVED));
    assertEquals(shouldEnd, ended);
    assertEquals(orphans, counters.get(CounterType.COMPLETIONS_ORPHANED));
  }

  private static long with(boolean data) {
    return data ? CompletionFlags.REMOTE_CQ_DATA : 0;
  }

  /** Some providers name the kind of the peer's operation as if it were of this side. */
  private static long arrival(Step step) {
    return CompletionFlags.REMOTE_CQ_DATA
        | CompletionFlags.REMOTE_WRITE
        | CompletionFlags.RMA
        | (step.more() ? CompletionFlags.WRITE : 0);
  }

  private static int firstFree(ContextTable table, ArrayDeque<Integer> out) {
    int context = table.first();
    while (out.contains(context)) {
      context++;
    }
    return context;
  }
}

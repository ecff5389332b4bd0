package org.jofi.rdma.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.wire.MailboxLayout;
import org.jofi.simulated.Simulation;
import org.jofi.simulated.fault.FaultPlan;
import org.jofi.simulated.profile.Profile;
import org.jofi.transport.Result;

/** Sends before, between and after their receives, some of them taken back. */
class QueuedSendProperties {
  private static final int TAGS = 3;
  private static final int MOST = 300;
  private static final int IDLE_ROUNDS = 200_000;

  /** The k-th send of a tag that is not taken back is what the k-th receive of that tag gets. */
  @Property(tries = 30)
  void eachReceiveGetsTheSendOfItsRank(
      @ForAll @IntRange(max = 3) int profile,
      @ForAll @LongRange(min = 1, max = Long.MAX_VALUE / 2) long seed,
      @ForAll @IntRange(min = 1, max = 100) int messages,
      @ForAll @IntRange(min = 1, max = 99) int sendsInHundred) {
    Profile kind = Profile.ALL.get(profile % Profile.ALL.size());
    try (Arena arena = Arena.ofShared();
        Simulation simulation =
            Simulation.of(kind).seed(seed).nicsPerHost(2).faults(FaultPlan.survivable()).open()) {
      Exchange exchange = new Exchange(simulation, 2, 2, kind.behaviour().writeData());
      new Run(exchange, arena, new Random(seed), messages, sendsInHundred).run();
      exchange.close();
      assertEquals(List.of(), simulation.openObjects());
    }
  }

  /** Who sends what: the number of a message is its content. */
  private static final class Run {
    private final Exchange exchange;
    private final Random random;
    private final int messages;
    private final int sendsInHundred;
    private final MemorySegment source;
    private final MemorySegment target;
    private final DataRegistration from;
    private final DataRegistration to;
    private final List<List<Long>> sends = new ArrayList<>();
    private final List<List<Integer>> numbers = new ArrayList<>();
    private final List<List<Long>> receives = new ArrayList<>();
    private final List<List<Integer>> places = new ArrayList<>();
    private int sent;
    private int received;

    Run(Exchange exchange, Arena arena, Random random, int messages, int sendsInHundred) {
      this.exchange = exchange;
      this.random = random;
      this.messages = messages;
      this.sendsInHundred = sendsInHundred;
      source = arena.allocate(8L * 2 * MOST, 64);
      target = arena.allocate(8L * MOST, 64);
      from = exchange.register(exchange.left, source);
      to = exchange.register(exchange.right, target);
      for (int tag = 0; tag < TAGS; tag++) {
        sends.add(new ArrayList<>());
        numbers.add(new ArrayList<>());
        receives.add(new ArrayList<>());
        places.add(new ArrayList<>());
      }
    }

    void run() {
      int cancelled = 0;
      while (sent - cancelled < messages) {
        int choice = random.nextInt(110);
        if (choice >= 105 && cancelled < MOST) {
          cancelled += cancel(random.nextInt(TAGS)) ? 1 : 0;
        } else if (choice >= 100) {
          exchange.progress();
          exchange.simulation.idle();
        } else if (choice < sendsInHundred) {
          send(random.nextInt(TAGS));
        } else {
          receive(random.nextInt(TAGS));
        }
      }
      for (int tag = 0; tag < TAGS; tag++) {
        while (receives.get(tag).size() < sends.get(tag).size()) {
          receive(tag);
        }
      }
      for (int tag = 0; tag < TAGS; tag++) {
        while (sends.get(tag).size() < receives.get(tag).size()) {
          send(tag);
        }
      }
      for (int tag = 0; tag < TAGS; tag++) {
        for (int rank = 0; rank < sends.get(tag).size(); rank++) {
          assertEquals(8, await(sends.get(tag).get(rank), true));
          assertEquals(8, await(receives.get(tag).get(rank), false));
          long at = 8L * places.get(tag).get(rank);
          assertEquals(
              (long) numbers.get(tag).get(rank),
              target.get(ValueLayout.JAVA_LONG, at),
              "rank " + rank);
        }
      }
    }

    private void send(int tag) {
      if (sent == 2 * MOST || sends.get(tag).size() == room()) {
        return;
      }
      source.set(ValueLayout.JAVA_LONG, 8L * sent, sent);
      long id = Posting.send(exchange.sender, source.address() + 8L * sent, 8, tag, from);
      if (id == Result.TRY_AGAIN) {
        // None is tested before the end.
        return;
      }
      assertTrue(id > 0);
      sends.get(tag).add(id);
      numbers.get(tag).add(sent++);
    }

    private int room() {
      return MailboxLayout.ENTRIES / TAGS;
    }

    private void receive(int tag) {
      if (receives.get(tag).size() == room()) {
        return;
      }
      long[] address = {target.address() + 8L * received};
      long id =
          Posting.receive(
              exchange.receiver,
              1,
              address,
              new long[] {8},
              new int[] {tag},
              new DataRegistration[] {to});
      assertTrue(id > 0);
      receives.get(tag).add(id);
      places.get(tag).add(received++);
    }

    /** Takes back the last send of a tag, if it can. */
    private boolean cancel(int tag) {
      List<Long> ids = sends.get(tag);
      if (ids.isEmpty() || !exchange.sender.cancel(ids.getLast())) {
        return false;
      }
      ids.removeLast();
      numbers.get(tag).removeLast();
      return true;
    }

    private long await(long request, boolean sending) {
      long result = Result.IN_PROGRESS;
      for (int round = 0; result == Result.IN_PROGRESS; round++) {
        assertTrue(round < IDLE_ROUNDS, "stalls");
        exchange.progress();
        exchange.simulation.idle();
        result = sending ? exchange.sender.test(request) : exchange.receiver.test(request);
      }
      return result;
    }
  }
}

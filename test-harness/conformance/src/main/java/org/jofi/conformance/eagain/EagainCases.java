package org.jofi.conformance.eagain;

import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jofi.conformance.bench.Bench;
import org.jofi.conformance.bench.Buffer;
import org.jofi.conformance.bench.Completion;
import org.jofi.conformance.bench.Expect;
import org.jofi.conformance.bench.NotClaimedException;
import org.jofi.conformance.bench.Pair;
import org.jofi.conformance.rule.Area;
import org.jofi.conformance.rule.Case;
import org.jofi.fabric.Access;
import org.jofi.fabric.FabricErrno;

/** What {@code -FI_EAGAIN} means. The sender does not poll until it is refused. */
public final class EagainCases {
  private static final int MOST = 3000;
  private static final int BYTES = 64;
  private static final int POSTED = 64;

  /** A sender that loses its processor for a moment does not overtake its NIC. */
  private static final int FLOODS = 3;

  private static final Duration BOUND = Duration.ofSeconds(40);

  private EagainCases() {}

  /** The cases. */
  public static List<Case> all() {
    return List.of(
        Case.of(
                Area.EAGAIN,
                "nothing-posted",
                "fi_endpoint(3), fi_msg(3), RETURN VALUE: a call that returned -FI_EAGAIN posted"
                    + " nothing",
                EagainCases::nothingPosted)
            .within(BOUND),
        Case.of(
                Area.EAGAIN,
                "retry",
                "fi_msg(3), -FI_EAGAIN: after the queues were polled the call succeeds when it is"
                    + " tried again",
                EagainCases::retry)
            .within(BOUND));
  }

  /** Sends numbered messages to a receiver that reposts its receives as they complete. */
  private static final class Flood {
    private final Bench bench;
    private final Pair pair;
    private final Buffer from;
    private final Buffer into;
    private final ArrayDeque<int[]> receives = new ArrayDeque<>();
    private final List<Integer> arrived = new ArrayList<>();
    private final List<Integer> slots = new ArrayList<>();

    Flood(Bench bench) {
      this.bench = bench;
      this.pair = bench.pair();
      this.from = pair.left().buffer((long) MOST * BYTES, Access.SEND);
      this.into = pair.right().buffer((long) POSTED * BYTES, Access.RECV);
      for (int i = 0; i < MOST; i++) {
        from.memory().set(ValueLayout.JAVA_INT, (long) i * BYTES, i);
      }
      for (int i = 0; i < POSTED; i++) {
        repost(i);
      }
    }

    private void repost(int place) {
      receives.add(new int[] {pair.right().recv(into, (long) place * BYTES, BYTES), place});
    }

    int trySend(int number, int slot) {
      return pair.left()
          .endpoint()
          .send(
              from.address() + (long) number * BYTES,
              BYTES,
              from.descriptor(),
              pair.toRight(),
              slot);
    }

    /** Sends until refused; whether it was. */
    boolean isRefused() {
      for (int i = 0; i < MOST; i++) {
        int slot = pair.left().slot();
        int code = trySend(i, slot);
        if (code == -FabricErrno.EAGAIN) {
          return true;
        }
        Expect.same("what fi_send of message %d returns".formatted(i), 0, code);
        slots.add(slot);
      }
      return false;
    }

    /** How many sends were taken. */
    int taken() {
      return slots.size();
    }

    /** Takes what has arrived. Receives may complete in any order. */
    boolean drain(int enough) {
      for (int n = receives.size(); n > 0; n--) {
        int[] receive = receives.remove();
        Completion done = pair.right().completions().of(receive[0]).orElse(null);
        if (done == null) {
          receives.add(receive);
        } else {
          Expect.that(!done.failed(), "the receive to succeed", done.toString());
          arrived.add(into.memory().get(ValueLayout.JAVA_INT, (long) receive[1] * BYTES));
          repost(receive[1]);
        }
      }
      return arrived.size() >= enough;
    }

    void awaitArrivals(int count) {
      bench.await(
          pair.right(),
          "%d messages that were taken to arrive".formatted(count),
          () -> drain(count));
      bench.watchFor(() -> drain(count + 1));
    }

    void requireNumbers(int count) {
      List<Integer> expected = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        expected.add(i);
      }
      List<Integer> sorted = arrived.stream().sorted().toList();
      Expect.that(
          sorted.equals(expected),
          "messages 0 to %d, which were taken, to arrive once".formatted(count - 1),
          sorted.size() > count
              ? "%d arrived, the last ones %s".formatted(sorted.size(), sorted.getLast())
              : "%d arrived: %s".formatted(sorted.size(), sorted));
    }
  }

  /** One that the provider refused to take all of. */
  private static Flood refused(Bench bench) {
    for (int i = 0; i < FLOODS; i++) {
      Flood flood = new Flood(bench);
      if (flood.isRefused()) {
        return flood;
      }
    }
    throw new NotClaimedException(
        "took %d sends without polling, and never returned -FI_EAGAIN".formatted(MOST));
  }

  private static void nothingPosted(Bench bench) {
    Flood flood = refused(bench);
    int taken = flood.taken();
    flood.awaitArrivals(taken);
    flood.requireNumbers(taken);
    int completions = 0;
    for (int slot : flood.slots) {
      flood.pair.left().success(slot, "a send that was taken");
      completions += flood.pair.left().completions().countOf(slot);
    }
    Expect.same("completions of the sends that were taken", taken, completions);
  }

  private static void retry(Bench bench) {
    Flood flood = refused(bench);
    int taken = flood.taken();
    int slot = flood.pair.left().slot();
    int[] code = new int[1];
    bench.await(
        flood.pair.left(),
        "message %d to be taken when it is tried again".formatted(taken),
        () -> {
          flood.drain(0);
          code[0] = flood.trySend(taken, slot);
          return code[0] != -FabricErrno.EAGAIN;
        });
    Expect.same("what the last try returns", 0, code[0]);
    flood.pair.left().success(slot, "the send that was tried again");
  }
}

package org.jofi.conformance.progress;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.jofi.conformance.bench.Bench;
import org.jofi.conformance.bench.Buffer;
import org.jofi.conformance.bench.Expect;
import org.jofi.conformance.bench.Pair;
import org.jofi.conformance.rule.Area;
import org.jofi.conformance.rule.Case;
import org.jofi.conformance.rule.Need;
import org.jofi.fabric.Access;
import org.jofi.fabric.PostFlags;
import org.jofi.fabric.Progress;

/** Who drives transfers. */
public final class ProgressCases {
  private static final int BYTES = 65_536;
  private static final Duration IDLE = Duration.ofSeconds(2);
  private static final int POLLS = 300;
  private static final long LONGEST_POLL_NANOS = 20_000_000;

  private static final Need AUTO =
      new Need(
          hints -> hints,
          info ->
              info.dataProgress() == Progress.AUTO
                  ? Optional.empty()
                  : Optional.of("claims data progress " + info.dataProgress()),
          "");

  private ProgressCases() {}

  /** The cases. */
  public static List<Case> all() {
    return List.of(
        Case.of(
            Area.PROGRESS,
            "polling-is-enough",
            "fi_domain(3), FI_PROGRESS_MANUAL: while both sides poll their queues, what was posted"
                + " completes",
            ProgressCases::pollingIsEnough),
        Case.of(
                Area.PROGRESS,
                "auto-idle-target",
                "fi_domain(3), FI_PROGRESS_AUTO: reads and delivery-complete writes complete though"
                    + " the target calls nothing",
                ProgressCases::autoIdleTarget)
            .needing(AUTO),
        Case.of(
            Area.PROGRESS,
            "poll-never-waits",
            "fi_cq(3), fi_cq_read: the call returns at once, also if there is nothing",
            ProgressCases::pollNeverWaits));
  }

  private static void pollingIsEnough(Bench bench) {
    Pair pair = bench.pair();
    Buffer into = pair.left().buffer(BYTES, Access.READ);
    Buffer from = pair.right().buffer(BYTES, Access.REMOTE_READ);
    from.fill(BYTES, 94);
    int slot = pair.left().read(into, BYTES, pair.toRight(), from.target());
    pair.left().success(slot, "a read from a side that only polls");
    bench.awaitBytes(pair.left(), "the read", into.memory(), 94);
  }

  private static void autoIdleTarget(Bench bench) {
    Pair pair = bench.pair();
    Buffer here = pair.left().buffer(BYTES, Access.READ | Access.WRITE);
    Buffer there = pair.right().buffer(BYTES, Access.REMOTE_READ | Access.REMOTE_WRITE);
    there.fill(BYTES, 95);
    bench.leave(pair.right());
    int read = pair.left().read(here, BYTES, pair.toRight(), there.target());
    boolean readDone = bench.within(IDLE, () -> isDone(pair, read));
    int write =
        pair.left().write(here, BYTES, pair.toRight(), there.target(), PostFlags.DELIVERY_COMPLETE);
    boolean writeDone = bench.within(IDLE, () -> isDone(pair, write));
    bench.take(pair.right());
    Expect.that(
        readDone && writeDone,
        "a read and a write to complete while the target is idle",
        "not within %d s: the %s; the target has to poll"
            .formatted(IDLE.toSeconds(), readDone ? "write" : "read"));
    pair.left().success(read, "the read");
    pair.left().success(write, "the write");
  }

  private static boolean isDone(Pair pair, int slot) {
    return pair.left().completions().of(slot).isPresent();
  }

  private static void pollNeverWaits(Bench bench) {
    Pair pair = bench.pair();
    long[] nanos = new long[POLLS];
    for (int i = 0; i < POLLS; i++) {
      long start = System.nanoTime();
      pair.left().poll();
      nanos[i] = System.nanoTime() - start;
    }
    Arrays.sort(nanos);
    long median = nanos[POLLS / 2];
    Expect.that(
        median < LONGEST_POLL_NANOS,
        "half of %d polls of an idle queue to take less than %d ms each"
            .formatted(POLLS, LONGEST_POLL_NANOS / 1_000_000),
        "half of them take %d ms or more".formatted(median / 1_000_000));
  }
}

package org.jofi.conformance.threading;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Phaser;
import java.util.function.IntConsumer;
import org.jofi.conformance.bench.Bench;
import org.jofi.conformance.bench.BrokenRuleException;
import org.jofi.conformance.bench.Buffer;
import org.jofi.conformance.bench.Bytes;
import org.jofi.conformance.bench.Expect;
import org.jofi.conformance.bench.Pair;
import org.jofi.conformance.bench.Peer;
import org.jofi.conformance.rule.Area;
import org.jofi.conformance.rule.Case;
import org.jofi.conformance.rule.Need;
import org.jofi.fabric.Access;
import org.jofi.fabric.MemoryRegion;
import org.jofi.fabric.RegionRequest;
import org.jofi.fabric.Threading;

/** Which calls may overlap. */
public final class ThreadingCases {
  private static final int ROUNDS = 20;
  private static final int STEPS_A_ROUND = 10;
  private static final int BYTES = 512;
  private static final int HANDOVERS = 4;

  private ThreadingCases() {}

  /** The cases. */
  public static List<Case> all() {
    return List.of(
        Case.of(
            Area.THREADING,
            "handed-over",
            "fi_domain(3), threading: objects may be used by one thread after another, in every"
                + " model",
            ThreadingCases::handedOver),
        Case.of(
                Area.THREADING,
                "domains-in-parallel",
                "fi_domain(3), FI_THREAD_DOMAIN and wider: threads use different domains at once",
                ThreadingCases::domainsInParallel)
            .needing(
                claiming(
                    Threading.SAFE,
                    Threading.FID,
                    Threading.DOMAIN,
                    Threading.COMPLETION,
                    Threading.ENDPOINT)),
        Case.of(
                Area.THREADING,
                "queues-in-parallel",
                "fi_domain(3), FI_THREAD_COMPLETION and wider: threads use different endpoints with"
                    + " queues of their own in one domain at once",
                ThreadingCases::queuesInParallel)
            .needing(
                claiming(Threading.SAFE, Threading.FID, Threading.COMPLETION, Threading.ENDPOINT)),
        Case.of(
                Area.THREADING,
                "registration-in-parallel",
                "fi_domain(3), FI_THREAD_SAFE: a thread registers and closes regions while another"
                    + " moves data in the same domain",
                ThreadingCases::registrationInParallel)
            .needing(claiming(Threading.SAFE)));
  }

  private static Need claiming(Threading... models) {
    Set<Threading> wide = EnumSet.of(models[0], models);
    return new Need(
        hints -> hints,
        info ->
            wide.contains(info.threading())
                ? java.util.Optional.empty()
                : java.util.Optional.of("claims threading " + info.threading()),
        "");
  }

  /** What runs on a thread of its own, and meets the others at {@code start} before each round. */
  private interface Work {
    void run(Phaser start) throws InterruptedException;
  }

  /**
   * Runs all at once, and passes on the first failure when none of them runs any more: what one
   * that went on would do to the next case would be said of that.
   */
  private static void together(Work... works) throws InterruptedException {
    Phaser start = new Phaser(works.length);
    List<FutureTask<Boolean>> tasks = new ArrayList<>();
    for (int i = 0; i < works.length; i++) {
      Work work = works[i];
      FutureTask<Boolean> task =
          new FutureTask<>(
              () -> {
                try {
                  work.run(start);
                } finally {
                  start.arriveAndDeregister();
                }
                return true;
              });
      tasks.add(task);
      Thread.ofPlatform().daemon().name("case thread " + i).start(task);
    }
    RuntimeException failure = null;
    for (FutureTask<Boolean> task : tasks) {
      try {
        task.get();
      } catch (ExecutionException e) {
        if (failure == null) {
          failure =
              e.getCause() instanceof RuntimeException cause
                  ? cause
                  : new BrokenRuleException("the calls to succeed", String.valueOf(e.getCause()));
        }
      }
    }
    if (failure != null) {
      throw failure;
    }
  }

  /**
   * Does something often, and meets the other threads before each round: one that is alone on a
   * processor would be through before another begins.
   */
  private static void inRounds(Phaser start, IntConsumer step) {
    for (int round = 0; round < ROUNDS; round++) {
      start.arriveAndAwaitAdvance();
      for (int i = 0; i < STEPS_A_ROUND; i++) {
        step.accept(round * STEPS_A_ROUND + i);
      }
    }
  }

  /** Messages from one side to the other, each checked, by one thread that polls both. */
  private static void traffic(Bench bench, Pair pair, int seed, Phaser start) {
    Buffer from = pair.left().buffer(BYTES, Access.SEND);
    Buffer into = pair.right().buffer(BYTES, Access.RECV);
    inRounds(start, i -> message(pair, from, into, seed + i, i));
    bench.watch(java.time.Duration.ofMillis(1));
  }

  private static void message(Pair pair, Buffer from, Buffer into, int seed, int i) {
    from.fill(BYTES, seed);
    into.clear();
    int received = pair.right().recv(into, BYTES);
    int sent = pair.left().send(from, BYTES, pair.toRight());
    pair.left().success(sent, "send " + i);
    pair.right().success(received, "receive " + i);
    Expect.that(
        Bytes.match(into.memory(), seed),
        "message %d whole".formatted(i),
        "it differs at byte " + Bytes.mismatch(into.memory(), seed));
  }

  private static void handedOver(Bench bench) throws InterruptedException {
    Pair pair = bench.pair();
    Buffer from = pair.left().buffer(BYTES, Access.SEND);
    Buffer into = pair.right().buffer(BYTES, Access.RECV);
    for (int i = 0; i < HANDOVERS; i++) {
      int seed = i;
      together(
          start -> {
            from.fill(BYTES, seed);
            int received = pair.right().recv(into, BYTES);
            int sent = pair.left().send(from, BYTES, pair.toRight());
            pair.left().success(sent, "a send from another thread");
            pair.right().success(received, "a receive on another thread");
            Expect.that(Bytes.match(into.memory(), seed), "the message whole", "it differs");
          });
    }
  }

  private static void domainsInParallel(Bench bench) throws InterruptedException {
    together(onBenchOfItsOwn(bench, 1000), onBenchOfItsOwn(bench, 2000));
  }

  private static Work onBenchOfItsOwn(Bench shared, int seed) {
    return start -> {
      try (Bench bench = shared.another()) {
        traffic(bench, bench.pair(), seed, start);
      }
    };
  }

  private static void queuesInParallel(Bench bench) throws InterruptedException {
    Peer left = bench.open("left");
    Peer right = bench.open("right");
    Pair first = bench.connect(left, right);
    try (Bench other = bench.another()) {
      Pair second =
          other.connect(
              other.beside(left, "left, second endpoint"),
              other.beside(right, "right, second endpoint"));
      together(
          start -> traffic(bench, first, 3000, start),
          start -> traffic(other, second, 4000, start));
    }
  }

  private static void registrationInParallel(Bench bench) throws InterruptedException {
    Pair pair = bench.pair();
    MemorySegment memory = bench.allocate(65_536);
    together(
        start -> traffic(bench, pair, 5000, start),
        start ->
            inRounds(
                start,
                i ->
                    register(bench, pair.right(), RegionRequest.host(memory, Access.ALL)).close()));
  }

  private static MemoryRegion register(Bench bench, Peer side, RegionRequest request) {
    RegionRequest keyed = request.withRequestedKey(bench.freshKey());
    return side.info().registrationScope() == org.jofi.fabric.RegistrationScope.DOMAIN
        ? side.domain().register(keyed)
        : side.domain().registerForEndpoint(keyed).bind(side.endpoint()).enable();
  }
}

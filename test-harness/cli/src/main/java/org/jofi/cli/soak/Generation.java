package org.jofi.cli.soak;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jofi.cli.ranks.BoundedWait;
import org.jofi.cli.ranks.RankDevice;
import org.jofi.cli.ranks.RankFailure;
import org.jofi.cli.ranks.RingLinks;
import org.jofi.collectives.Group;
import org.jofi.collectives.GroupOptions;
import org.jofi.ranks.JoinOptions;
import org.jofi.ranks.Placement;
import org.jofi.ranks.Ranks;
import org.jofi.ranks.RanksException;
import org.jofi.transport.RailStatus;
import org.jofi.transport.TransportException;
import org.jspecify.annotations.Nullable;

/**
 * A generation of a rank: it meets the others, connects, runs rounds, and closes all of that. If
 * another rank is killed, what it has fails, and it aborts. For one thread.
 */
final class Generation {
  private final RankDevice device;
  private final Order order;
  private final SoakRank rank;
  private int round;
  private String stage = "meeting the other ranks";
  private @Nullable RingLinks links;
  private @Nullable Group group;

  Generation(RankDevice device, Order order, SoakRank rank) {
    this.device = device;
    this.order = order;
    this.rank = rank;
  }

  /**
   * Runs it.
   *
   * @param aborts waits for the order to abort
   * @return what to report when all of it is closed; empty if this rank cannot go on
   */
  Optional<Report> run(Placement placement, Duration patience, Supplier<Order> aborts) {
    GenerationMemory memory = new GenerationMemory(device.transport());
    Ranks bootstrap = null;
    Report ending;
    try {
      bootstrap =
          Ranks.join(
              placement,
              JoinOptions.defaults()
                  .withSecret(order.secret())
                  .withParameters(Map.of("the generation", Integer.toString(order.generation())))
                  .withServing(false),
              patience);
      report(Report.Kind.JOINED, "", 0);
      connectAndRun(bootstrap, new BoundedWait(bootstrap, patience), memory);
      ending = Report.of(Report.Kind.DONE, order.generation(), round, "", 0);
    } catch (RanksException | RankFailure | TransportException e) {
      ending = fail(e, memory, aborts);
    } catch (RuntimeException | AssertionError | OutOfMemoryError e) {
      report(Report.Kind.WRONG, stage + ": " + words(e), 0);
      return Optional.empty();
    } finally {
      if (bootstrap != null) {
        bootstrap.close();
      }
    }
    return ending.kind() == Report.Kind.WRONG ? Optional.empty() : Optional.of(ending);
  }

  private static String words(Throwable failure) {
    if (failure instanceof WrongDataException) {
      return String.valueOf(failure.getMessage());
    }
    // A defect: where it is says more than its message.
    StringBuilder text = new StringBuilder(failure.toString());
    Stream.of(failure.getStackTrace()).limit(6).forEach(frame -> text.append(" at ").append(frame));
    return text.toString();
  }

  private void connectAndRun(Ranks bootstrap, BoundedWait patience, GenerationMemory memory) {
    stage = "connecting the ring";
    RingLinks ring = RingLinks.connect(bootstrap, device.device(), patience);
    links = ring;
    GroupOptions options = Rounds.group(order.seed(), patience.bound());
    Group all = Group.connect(bootstrap, device.device(), options);
    group = all;
    report(Report.Kind.CONNECTED, "", 0);
    Rounds rounds = new Rounds(device, ring, all, options, memory, order.seed());
    while (round < order.rounds() && !stops(ring)) {
      RoundKind kind = rounds.kind(round);
      stage = "round " + round + ", " + kind.text();
      report(Report.Kind.ROUND, kind.text(), 0);
      long bytes = rounds.run(round);
      rank.checked(order, round, kind, bytes, railsDown(ring));
      round++;
    }
    stage = "closing the ring";
    memory.close();
    ring.gather(new byte[0]);
    all.close();
    group = null;
    ring.close();
    links = null;
  }

  /** All ranks end after the same round: when rank 0 was told to. */
  private boolean stops(RingLinks ring) {
    stage = "beginning round " + round;
    return ring.gather(new byte[] {(byte) (rank.finishes(order.generation()) ? 1 : 0)})
            .getFirst()[0]
        == 1;
  }

  private static Map<Integer, String> railsDown(RingLinks ring) {
    Map<Integer, String> down = new TreeMap<>();
    for (List<RailStatus> rails : List.of(ring.toNext().rails(), ring.fromPrevious().rails())) {
      for (RailStatus rail : rails) {
        if (rail.state() != RailStatus.State.UP) {
          down.put(rail.rail(), rail.state() + rail.cause().map(cause -> ": " + cause).orElse(""));
        }
      }
    }
    return down;
  }

  private Report fail(RuntimeException reason, GenerationMemory memory, Supplier<Order> aborts) {
    report(
        reason instanceof RanksException ? Report.Kind.LOST : Report.Kind.FAILED,
        stage + ": " + reason.getMessage(),
        0);
    Order abort = aborts.get();
    long begin = System.nanoTime();
    List<String> causes = List.of();
    try {
      RingLinks left = links;
      Group broken = group;
      if (broken != null) {
        broken.abort();
      }
      if (left != null) {
        causes = new LostPeerProbe(left, memory).run(abort.lost());
        left.abort();
      }
      memory.close();
    } catch (RuntimeException e) {
      report(Report.Kind.WRONG, "aborting after " + stage + ": " + words(e), 0);
      return Report.of(Report.Kind.WRONG, order.generation(), round, "", 0);
    }
    return Report.of(
        Report.Kind.ABORTED,
        order.generation(),
        round,
        String.join("; ", causes),
        (System.nanoTime() - begin) / 1_000_000);
  }

  private void report(Report.Kind kind, String text, long number) {
    rank.report(Report.of(kind, order.generation(), round, text, number));
  }
}

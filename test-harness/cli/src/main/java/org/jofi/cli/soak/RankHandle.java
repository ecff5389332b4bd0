package org.jofi.cli.soak;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jofi.cli.ranks.RankProcess;
import org.jofi.ranks.Placement;
import org.jofi.transport.diagnostics.Log;
import org.jspecify.annotations.Nullable;

/** A rank, seen from the process that started it. For one thread. */
final class RankHandle {
  private static final Log LOG = new Log(Log.Name.RANKS);

  /**
   * What was heard of a rank.
   *
   * @param process of which of its processes
   */
  record Heard(int rank, Process process, Report report) {
    private static final long WAIT_MILLIS = 20;

    /** The next one, for which it waits a little; null if there is none. */
    static @Nullable Heard next(BlockingQueue<Heard> heard) {
      try {
        return heard.poll(WAIT_MILLIS, TimeUnit.MILLISECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException("interrupted", e);
      }
    }
  }

  private final Placement placement;
  private final Supplier<ProcessBuilder> builder;
  private final Path log;
  private final BlockingQueue<Heard> heard;
  private final List<Vitals> vitals = new ArrayList<>();
  private @Nullable Process process;
  private Report last = Report.of(Report.Kind.EXITED, 0, 0, "", 0);
  private long heardAt;
  private long killedAt;
  private boolean killed;
  private boolean ended;
  private boolean ready;
  private int roundsChecked;
  private int starts;
  private Map<Integer, String> railsDown = Map.of();

  /**
   * @param builder of its process
   * @param log takes what the process says beside its reports
   * @param heard takes what it reports
   */
  RankHandle(
      Placement placement, Supplier<ProcessBuilder> builder, Path log, BlockingQueue<Heard> heard) {
    this.placement = placement;
    this.builder = builder;
    this.log = log;
    this.heard = heard;
  }

  int rank() {
    return placement.rank();
  }

  /** Starts its process; also again, after it was killed. */
  void start() {
    ProcessBuilder one = builder.get();
    one.redirectError(ProcessBuilder.Redirect.appendTo(log.toFile()));
    Process started = RankProcess.start(one, placement);
    process = started;
    starts++;
    killed = false;
    ready = false;
    vitals.clear();
    railsDown = Map.of();
    begun();
    Thread.ofPlatform().daemon().name("soak-rank-" + rank()).start(() -> listen(started));
  }

  private void listen(Process of) {
    try (BufferedReader lines =
        new BufferedReader(new InputStreamReader(of.getInputStream(), StandardCharsets.UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        var report = Lines.read(line, Report.class);
        if (report.isPresent()) {
          heard.add(new Heard(rank(), of, report.get()));
        } else {
          Files.writeString(log, line + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        }
      }
    } catch (IOException e) {
      // It ended, which is told below.
      heard.add(new Heard(rank(), of, Report.of(Report.Kind.EXITED, 0, 0, "", -1)));
      return;
    }
    try {
      int code = of.waitFor();
      heard.add(
          new Heard(
              rank(),
              of,
              Report.of(Report.Kind.EXITED, 0, 0, RankProcess.describe(of.pid(), code), code)));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** A generation begins. */
  void begun() {
    ended = false;
    roundsChecked = 0;
    heardAt = System.nanoTime();
  }

  /** Takes note of what was heard; whether it is of the process that runs now. */
  boolean note(Heard one) {
    if (!one.process().equals(process)) {
      return false;
    }
    Report report = one.report();
    heardAt = System.nanoTime();
    last = report;
    ready |= report.kind() == Report.Kind.READY;
    if (report.kind() == Report.Kind.CHECKED) {
      roundsChecked++;
      railsDown = report.railsDown();
    }
    Vitals measured = report.vitals();
    if (measured != null) {
      ended = true;
      if (report.kind() == Report.Kind.DONE) {
        vitals.add(measured);
      }
    }
    return true;
  }

  /** Tells it something; a rank that is gone hears nothing, which its end tells. */
  void send(Order order) {
    try {
      var out = running().getOutputStream();
      out.write((Lines.write(order) + "\n").getBytes(StandardCharsets.UTF_8));
      out.flush();
    } catch (IOException e) {
      LOG.log(System.Logger.Level.DEBUG, "rank " + rank() + " hears nothing", e);
    }
  }

  private Process running() {
    Process now = process;
    if (now == null) {
      throw new IllegalStateException("rank %d was not started".formatted(rank()));
    }
    return now;
  }

  long pid() {
    return running().pid();
  }

  /** Kills it, as the plan wants. */
  void kill() {
    killed = true;
    killedAt = System.nanoTime();
    RankProcess.end(running());
  }

  /** Ends it, whatever it does. */
  void end() {
    Process now = process;
    if (now != null) {
      RankProcess.end(now);
    }
  }

  /** Its last words, besides reports. */
  String lastWords() {
    try {
      if (!Files.exists(log)) {
        return "";
      }
      List<String> lines = Files.readAllLines(log, StandardCharsets.UTF_8);
      return String.join("\n", lines.subList(Math.max(0, lines.size() - 5), lines.size()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  boolean isKilled() {
    return killed;
  }

  long killedAt() {
    return killedAt;
  }

  /** Whether the generation is over for it. */
  boolean isOver() {
    return killed || ended;
  }

  /** Whether its transport is open. */
  boolean isReady() {
    return ready;
  }

  /** How many rounds of this generation it has checked. */
  int roundsChecked() {
    return roundsChecked;
  }

  /** How many times it was started. */
  int starts() {
    return starts;
  }

  Report last() {
    return last;
  }

  long heardAt() {
    return heardAt;
  }

  /** Of the ends of all generations that its process saw to the end. */
  List<Vitals> vitals() {
    return List.copyOf(vitals);
  }

  Map<Integer, String> railsDown() {
    return railsDown;
  }
}

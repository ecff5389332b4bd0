package org.jofi.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jofi.cli.stat.ProcessCounters;
import org.jofi.cli.stat.StatReport;
import org.jofi.counters.Counters;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Shows the counters of processes that use jofi, from outside of them. */
@Command(
    name = "stat",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = {
      "Shows what processes of this user count while they use jofi: messages and bytes by rail, what"
          + " waits, what failed and how often. Reading costs them nothing.",
      "Each open transport has a file in /dev/shm/jofi-USER, or where JOFI_COUNTERS says. That of a"
          + " process that was killed stays, and shows what it counted last. docs/COUNTERS.md says what"
          + " each counter means."
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  jofi stat                        all processes of this user",
      "  jofi stat 4711 --watch 1s        one of them, with rates, each second",
      "  jofi stat --errors               what failed, each distinct thing once",
      "  jofi stat --dump > census.txt    all that is known, for a report of a defect",
      "  jofi stat --prometheus > /var/lib/node_exporter/jofi.prom.$$ &&"
          + " mv /var/lib/node_exporter/jofi.prom.$$ /var/lib/node_exporter/jofi.prom",
      "  jofi stat --clean                removes what dead processes left",
      "  jofi stat --folder /dev/shm/jofi-alice   another user's, as root"
    },
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:done, also if no process has counters",
      "1:a file could not be read, or removed; the others are shown",
      "2:wrong usage",
      "3:there is no such process, or counters are off"
    })
final class StatCommand implements Callable<Integer> {
  private static final Pattern INTERVAL = Pattern.compile("([0-9]{1,6})(ms|s|m)?");
  private static final Duration SHORTEST = Duration.ofMillis(100);
  private static final Duration LONGEST = Duration.ofHours(1);

  @Parameters(
      arity = "0..1",
      paramLabel = "PID",
      description = "Only the process of that id, as it sees it itself.")
  private @Nullable Long pid;

  @Option(
      names = {"-w", "--watch"},
      paramLabel = "TIME",
      description =
          "Again and again, with what was counted each second since; TIME is such as 1s, 500ms or 1m,"
              + " 100ms at least.")
  private @Nullable String watch;

  @Option(
      names = "--times",
      paramLabel = "N",
      description =
          "Ends after so many times; with --watch alone. Default: until it is interrupted.")
  private @Nullable Integer times;

  @CommandLine.ArgGroup private @Nullable Form form;

  @Option(
      names = "--folder",
      paramLabel = "DIR",
      description = "Where the files are. Default: this user's, or what JOFI_COUNTERS says.")
  private @Nullable Path folder;

  @CommandLine.Spec private CommandLine.Model.CommandSpec spec;

  /** What is printed. */
  static final class Form {
    @Option(names = "--json", description = "Prints JSON, all counters of it, in place of tables.")
    private boolean json;

    @Option(
        names = "--prometheus",
        description = "Prints text for node_exporter's textfile collector.")
    private boolean prometheus;

    @Option(names = "--errors", description = "Prints what failed: how often, when first and last.")
    private boolean errors;

    @Option(
        names = "--dump",
        description =
            "Prints all that is known of each process, for a report of a defect. It has names of"
                + " devices and addresses of peers.")
    private boolean dump;

    @Option(
        names = "--clean",
        description =
            "Removes the files of processes that are proven dead: nobody holds the lock beside the"
                + " file, in whatever container it was.")
    private boolean clean;
  }

  private boolean failed;

  @Override
  public Integer call() throws InterruptedException {
    Form chosen = form == null ? new Form() : form;
    Duration every = watch == null ? null : interval(watch);
    if (every == null ? times != null : chosen.clean || chosen.prometheus || chosen.dump) {
      throw usage(
          every == null
              ? "--times goes with --watch"
              : "--watch goes with tables, --json and --errors only");
    }
    if (times != null && times < 1) {
      throw usage("--times must be 1 or more");
    }
    Optional<Path> where = where();
    if (where.isEmpty()) {
      return ExitCode.ENVIRONMENT;
    }
    if (chosen.clean) {
      return clean(where.get());
    }
    PrintWriter out = spec.commandLine().getOut();
    Map<Path, ProcessCounters> before = new HashMap<>();
    for (int round = 0; times == null || round < times; round++) {
      if (round > 0) {
        Thread.sleep(every);
      }
      List<ProcessCounters> all = read(where.get());
      if (pid != null && all.isEmpty()) {
        return none(where.get());
      }
      print(chosen, all, before, out);
      out.flush();
      if (every == null || out.checkError()) {
        break;
      }
      before.clear();
      all.forEach(each -> before.put(each.file(), each));
    }
    return failed ? ExitCode.FAILED : ExitCode.OK;
  }

  private void print(
      Form chosen, List<ProcessCounters> all, Map<Path, ProcessCounters> before, PrintWriter out) {
    if (chosen.json) {
      out.println(
          watch == null ? Json.pretty(StatReport.json(all)) : Json.line(StatReport.json(all)));
    } else if (chosen.prometheus) {
      StatReport.prometheus(all, out);
    } else if (all.isEmpty()) {
      out.println("no process of this user has counters: none has a transport of jofi open");
    } else {
      for (ProcessCounters each : all) {
        out.println(StatReport.heading(each, Instant.now()));
        if (chosen.errors) {
          errors(each, out);
        } else if (chosen.dump) {
          StatReport.census(each, out);
          errors(each, out);
        } else {
          tables(each, before.get(each.file()), out);
        }
        out.println();
      }
    }
  }

  private static void tables(
      ProcessCounters now, @Nullable ProcessCounters before, PrintWriter out) {
    for (List<String[]> rows : StatReport.tables(now, before)) {
      TextTable table = new TextTable(rows.getFirst());
      rows.stream().skip(1).forEach(table::row);
      out.println();
      table.print(out);
    }
    StatReport.notices(now).forEach(out::println);
  }

  private static void errors(ProcessCounters of, PrintWriter out) {
    if (of.errors().isEmpty()) {
      out.println("nothing failed");
      return;
    }
    TextTable table = new TextTable("COUNT", "FIRST", "LAST", "WHAT FAILED");
    of.errors()
        .forEach(
            error ->
                table.row(
                    Integer.toString(error.count()),
                    StatReport.time(error.first()),
                    StatReport.time(error.last()),
                    StatReport.printable(error.text())));
    table.print(out);
  }

  private Duration interval(String text) {
    Matcher parts = INTERVAL.matcher(text.strip().toLowerCase(Locale.ROOT));
    if (parts.matches()) {
      long number = Long.parseLong(parts.group(1));
      String unit = parts.group(2);
      Duration every =
          unit == null || unit.equals("s")
              ? Duration.ofSeconds(number)
              : unit.equals("m") ? Duration.ofMinutes(number) : Duration.ofMillis(number);
      if (every.compareTo(SHORTEST) >= 0 && every.compareTo(LONGEST) <= 0) {
        return every;
      }
    }
    throw usage("--watch takes a time such as 1s, 500ms or 1m, 100ms to 1 h, not '" + text + "'");
  }

  private CommandLine.ParameterException usage(String what) {
    return new CommandLine.ParameterException(spec.commandLine(), what);
  }

  /** The folder to look into; empty, and said, if there is none. */
  private Optional<Path> where() {
    if (folder != null) {
      if (!Files.isDirectory(folder)) {
        throw usage("--folder: " + folder + " is no folder");
      }
      return Optional.of(folder);
    }
    try {
      Optional<Path> usual = Counters.folder();
      if (usual.isEmpty()) {
        say("counters are off here: JOFI_COUNTERS, or -Djofi.counters, is 'off'");
      }
      return usual;
    } catch (IOException wrong) {
      say(wrong.getMessage());
      return Optional.empty();
    }
  }

  private int none(Path where) {
    say(
        "process %d has no counters in %s: it has no transport of jofi open, or is another user's"
            .formatted(pid, where));
    return ExitCode.ENVIRONMENT;
  }

  private void say(@Nullable String what) {
    PrintWriter err = spec.commandLine().getErr();
    err.println("jofi: " + what);
    err.flush();
  }

  private List<ProcessCounters> read(Path where) {
    List<ProcessCounters> all = new ArrayList<>();
    for (Path file : files(where)) {
      try {
        ProcessCounters read = ProcessCounters.read(file);
        if (pid == null || read.pid() == pid) {
          all.add(read);
        }
      } catch (IOException unreadable) {
        // One that was deleted meanwhile is that of a process which just ended.
        if (Files.exists(file)) {
          say(unreadable.getMessage());
          failed = true;
        }
      }
    }
    return all;
  }

  private List<Path> files(Path where) {
    try {
      return Counters.files(where);
    } catch (IOException unreadable) {
      say("%s cannot be read: %s".formatted(where, unreadable));
      failed = true;
      return List.of();
    }
  }

  private int clean(Path where) {
    PrintWriter out = spec.commandLine().getOut();
    int removed = 0;
    for (Path file : files(where)) {
      if (pid != null && !String.valueOf(file.getFileName()).startsWith(pid + "-")) {
        continue;
      }
      try {
        if (Counters.remove(file)) {
          out.println("removed " + file);
          removed++;
        } else if (Counters.state(file) == Counters.ProcessState.UNKNOWN) {
          say(
              "%s stays: the lock file beside it is missing or unreadable, so that its process may live"
                  .formatted(file));
          failed = true;
        }
      } catch (IOException refused) {
        say("%s cannot be removed: %s".formatted(file, refused));
        failed = true;
      }
    }
    out.printf("%d file(s) of dead processes removed%n", removed);
    out.flush();
    return failed ? ExitCode.FAILED : ExitCode.OK;
  }
}

package org.jofi.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jofi.cli.ranks.SharedMemory;
import org.jofi.conformance.Cases;
import org.jofi.conformance.ChildRunner;
import org.jofi.conformance.Judgement;
import org.jofi.conformance.JunitXml;
import org.jofi.conformance.Markdown;
import org.jofi.conformance.Report;
import org.jofi.conformance.Result;
import org.jofi.conformance.rule.Area;
import org.jofi.conformance.rule.Case;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Runs the conformance kit on a provider. */
@Command(
    name = "conform",
    description = {
      "Runs the conformance kit on a provider: does it keep the contracts of libfabric's man pages"
          + " that a multi-rail RDMA transport relies on?",
      "Every rule is tried in a child process; what hangs is stopped, and a crash is a failure."
          + " What the provider does not promise is not held against it.",
      "There are three verdicts, which are never added up: kept, broken, and not claimed. The last"
          + " line has the count of each, and which of the broken rules are known of exactly this"
          + " provider and version. What is known, and was not broken, is told as well."
    },
    mixinStandardHelpOptions = true,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:no rule is broken, or only such as are known of exactly this provider and version",
      "1:another rule is broken; with --strict, any",
      "2:wrong usage",
      "3:libfabric, or that provider of it, is missing on this machine"
    })
final class ConformCommand implements Callable<Integer> {
  @CommandLine.Spec private CommandLine.Model.CommandSpec spec;

  @Option(
      names = {"-p", "--provider"},
      paramLabel = "P",
      description =
          "A provider of the installed libfabric, such as tcp, shm or 'tcp;ofi_rxm', or a simulated"
              + " one: sim:efa, sim:cxi, sim:cxi-client-key, sim:tcp. Where libfabric 1 has no tcp,"
              + " its net is meant.")
  private @Nullable String provider;

  @Option(
      names = {"-d", "--domain"},
      paramLabel = "D",
      description = "The NIC, by the name of its domain; without it, loopback if there is one.")
  private @Nullable String domain;

  @Option(
      names = "--libfabric",
      paramLabel = "PATH",
      description = "The libfabric.so.1 to load, in place of the system's or JOFI_LIBFABRIC's.")
  private @Nullable Path library;

  @Option(
      names = "--java",
      paramLabel = "PATH",
      description =
          "The java that runs the cases, for a libfabric that needs another C library than the"
              + " system's. Without it, the one in jdk/bin beside the libfabric's folder if there"
              + " is one, else this program's own.")
  private @Nullable Path java;

  @Option(
      names = "--filter",
      paramLabel = "AREA",
      description = "Only that area, or only the case of that id; may be given several times.")
  private List<String> filters = List.of();

  @Option(
      names = "--junit-xml",
      paramLabel = "FILE",
      description =
          "Writes the results for CI systems as well: kept is passed, not claimed is skipped, and"
              + " broken is a failure, of the type known where it is.")
  private @Nullable Path junitXml;

  @Option(
      names = "--markdown",
      paramLabel = "FILE",
      description =
          "Appends the results to a page, as docs/CONFORMANCE.md has them; with --list, all"
              + " rules.")
  private @Nullable Path markdown;

  @Option(names = "--json", description = "Prints JSON, and no table.")
  private boolean json;

  @Option(names = "--strict", description = "Ends with 1 for broken rules that are known as well.")
  private boolean strict;

  @Option(names = "--list", description = "Lists the cases with their rules, and runs none.")
  private boolean list;

  @Override
  public Integer call() throws IOException, InterruptedException {
    List<Case> cases = cases();
    checkWritable("--junit-xml", junitXml);
    checkWritable("--markdown", markdown);
    if (list) {
      PrintWriter out = spec.commandLine().getOut();
      ConformText.list(out, cases, json);
      out.flush();
      append(Markdown.rules());
      return ExitCode.OK;
    }
    if (provider == null) {
      throw usage("missing --provider; --list tells what would be tried");
    }
    return tell(Judgement.of(examine(provider, cases)));
  }

  /** Prints and writes what came of it; the exit code. */
  int tell(Judgement judgement) {
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      out.println(Json.pretty(ConformText.fields(judgement)));
    } else {
      ConformText.print(out, judgement);
    }
    out.flush();
    try {
      if (junitXml != null) {
        JunitXml.write(judgement, junitXml);
      }
      append(Markdown.section(judgement));
    } catch (IOException failed) {
      PrintWriter err = spec.commandLine().getErr();
      err.println("jofi: the results cannot be written: " + words(failed));
      err.flush();
      return ExitCode.FAILED;
    }
    return judgement.isGood(strict) ? ExitCode.OK : ExitCode.FAILED;
  }

  /**
   * Checks before the run that a file can be written, so that the run is not in vain. Leaves no
   * file behind.
   */
  private void checkWritable(String option, @Nullable Path file) {
    if (file == null) {
      return;
    }
    boolean isNew = !Files.exists(file, LinkOption.NOFOLLOW_LINKS);
    try {
      Files.newOutputStream(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND).close();
      if (isNew) {
        Files.delete(file);
      }
    } catch (IOException failed) {
      throw usage("%s %s cannot be written: %s".formatted(option, file, words(failed)));
    }
  }

  private static String words(IOException failed) {
    return switch (failed) {
      case NoSuchFileException e -> "there is no such folder";
      case AccessDeniedException e -> "permission denied";
      case FileSystemException e when e.getReason() != null -> String.valueOf(e.getReason());
      default -> String.valueOf(failed.getMessage());
    };
  }

  private void append(String text) throws IOException {
    if (markdown != null) {
      Files.writeString(
          markdown,
          text,
          StandardCharsets.UTF_8,
          StandardOpenOption.CREATE,
          StandardOpenOption.APPEND);
    }
  }

  private Report examine(String subject, List<Case> cases)
      throws IOException, InterruptedException {
    boolean terminal = ProgressLine.isWanted() && !json;
    ProgressLine line =
        new ProgressLine(
            spec.commandLine().getErr(), subject, cases.size(), System.getenv("NO_COLOR") == null);
    AtomicLong done = new AtomicLong();
    Consumer<Result> progress =
        terminal ? result -> line.accept(done.incrementAndGet()) : result -> {};
    try {
      return new ChildRunner(subject, domain, childJava(), properties())
          .onStart(SharedMemory::clearAfter)
          .run(cases, progress);
    } catch (IllegalArgumentException wrong) {
      throw usage(wrong.getMessage());
    } finally {
      if (terminal) {
        line.clear();
      }
    }
  }

  private List<Case> cases() {
    if (filters.isEmpty()) {
      return Cases.all();
    }
    List<Case> chosen = new ArrayList<>();
    for (String filter : filters) {
      try {
        if (filter.indexOf('/') >= 0) {
          chosen.add(Cases.named(filter));
        } else {
          chosen.addAll(Cases.of(Area.named(filter)));
        }
      } catch (IllegalArgumentException unknown) {
        throw usage(unknown.getMessage());
      }
    }
    return chosen.stream().distinct().toList();
  }

  /**
   * The properties for child processes that say which library to load. This process does not load
   * it.
   */
  private List<String> properties() {
    String path =
        library != null
            ? library.toAbsolutePath().toString()
            : System.getProperty("jofi.libfabric", "");
    return path.isEmpty() ? List.of() : List.of("jofi.libfabric=" + path);
  }

  private Path childJava() {
    if (java != null) {
      if (!Files.isExecutable(java)) {
        throw usage("--java: " + java + " is not an executable file");
      }
      return java;
    }
    Path loaded = library != null ? library : libraryOfEnvironment();
    Path folder = loaded == null ? null : loaded.toAbsolutePath().normalize().getParent();
    Path beside = folder == null ? null : folder.resolveSibling("jdk").resolve("bin/java");
    return beside != null && Files.isExecutable(beside) ? beside : ChildRunner.ownJava();
  }

  private static @Nullable Path libraryOfEnvironment() {
    String property = System.getProperty("jofi.libfabric", "");
    String variable = System.getenv("JOFI_LIBFABRIC");
    if (!property.isEmpty()) {
      return Path.of(property);
    }
    return variable == null || variable.isEmpty() ? null : Path.of(variable);
  }

  private CommandLine.ParameterException usage(@Nullable String text) {
    return new CommandLine.ParameterException(spec.commandLine(), String.valueOf(text));
  }
}

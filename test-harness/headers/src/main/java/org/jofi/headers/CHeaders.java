package org.jofi.headers;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * C headers as gcc sees them: evaluates integer constant expressions over what they declare.
 *
 * <p>An expression that names something the headers lack is left out of the answer, so that one set
 * of expressions fits several versions of the headers. Any other complaint of the compiler is an
 * error.
 */
public final class CHeaders {
  private static final String PROBES = "probes.c";
  private static final Pattern ERROR =
      Pattern.compile("^" + PROBES + ":(\\d+):.* error: .*", Pattern.MULTILINE);
  private static final long TIMEOUT_SECONDS = 120;

  private final Path include;
  private final List<String> names;
  private final Path work;

  /**
   * Chooses headers.
   *
   * @param include the folder that the names are relative to
   * @param names the headers to include, in this order
   * @param work an empty folder for the generated program
   */
  public CHeaders(Path include, List<String> names, Path work) {
    this.include = include;
    this.names = List.copyOf(names);
    this.work = work;
  }

  /** Says what keeps these headers from being read on this machine; empty if nothing does. */
  public Optional<String> obstacle() {
    Optional<String> header =
        names.stream()
            .filter(name -> !Files.isReadable(include.resolve(name)))
            .findFirst()
            .map(name -> "no header " + include.resolve(name));
    return header.or(() -> onPath("gcc") ? Optional.empty() : Optional.of("no gcc on the PATH"));
  }

  /**
   * Evaluates expressions.
   *
   * @param expressions integer constant expressions in C; 64-bit values are taken modulo 2^64
   * @return the value of each expression that compiles
   * @throws IOException if the compiler cannot be run, or complains of anything but an expression
   * @throws InterruptedException if interrupted while it runs
   */
  public Map<String, Long> evaluate(Collection<String> expressions)
      throws IOException, InterruptedException {
    List<String> known = new ArrayList<>(expressions);
    Path source = work.resolve(PROBES);
    Files.writeString(source, program(known));
    Run check =
        run(
            List.of(
                "gcc", "-w", "-fmax-errors=0", "-fsyntax-only", "-I", include.toString(), PROBES));
    if (check.exitCode() != 0) {
      // Backwards, so that the line numbers of the rest stay valid.
      for (int line : unknownLines(check.output()).descendingSet()) {
        known.remove(line - 1);
      }
      Files.writeString(source, program(known));
    }
    Run compile = run(List.of("gcc", "-w", "-I", include.toString(), "-o", "probes", PROBES));
    if (compile.exitCode() != 0) {
      throw new IOException(
          "gcc does not accept " + names + " of " + include + ":\n" + compile.output());
    }
    Run values = run(List.of(work.resolve("probes").toString()));
    List<String> lines = values.output().lines().toList();
    if (values.exitCode() != 0 || lines.size() != known.size()) {
      throw new IOException("the generated program failed with " + values.exitCode());
    }
    Map<String, Long> answer = new LinkedHashMap<>();
    for (int i = 0; i < known.size(); i++) {
      answer.put(known.get(i), Long.parseLong(lines.get(i)));
    }
    return answer;
  }

  private String program(List<String> expressions) {
    String includes =
        names.stream().map(name -> "#include <" + name + ">\n").collect(Collectors.joining());
    String probes =
        expressions.stream()
            .map(expression -> "printf(\"%lld\\n\", (long long) (" + expression + "));\n")
            .collect(Collectors.joining());
    // #line makes the line number of a probe its position in the list.
    return "#include <stdio.h>\n"
        + includes
        + "int main(void) {\n#line 1\n"
        + probes
        + "return 0; }\n";
  }

  private static NavigableSet<Integer> unknownLines(String messages) {
    return ERROR
        .matcher(messages)
        .results()
        .map(error -> Integer.parseInt(error.group(1)))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private record Run(int exitCode, String output) {}

  private Run run(List<String> command) throws IOException, InterruptedException {
    Path output = work.resolve("output");
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(work.toFile())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile());
    builder.environment().put("LC_ALL", "C");
    Process process = builder.start();
    if (!process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
      process.destroyForcibly();
      throw new IOException(command + " did not end within " + TIMEOUT_SECONDS + " s");
    }
    return new Run(process.exitValue(), Files.readString(output));
  }

  private static boolean onPath(String program) {
    String path = System.getenv("PATH");
    return path != null
        && Stream.of(path.split(":"))
            .anyMatch(folder -> Files.isExecutable(Path.of(folder, program)));
  }
}

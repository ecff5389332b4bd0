package org.jofi.runner;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Names the test classes for what the working tree changes against HEAD: those of the changed
 * modules that reach a changed class, nearest first, as many as fit into 25 seconds. Where none of
 * those modules has any, those of the other modules. What is left out is said.
 */
public final class Changes {
  /** How many s of tests one processor runs: with building before, a minute in all. */
  private static final double SECONDS = 25;

  private static final Pattern SOURCE =
      Pattern.compile("(?<module>.+)/src/(?:main|test)/java/(?<type>.+)\\.java");

  /** Whose tests look at the pages and scripts, which belong to no module. */
  private static final String PAGES = "test-harness/launcher";

  private static final int UNREACHED = Integer.MAX_VALUE;

  private record Reached(String module, TestClass type, int distance, double seconds) {}

  private final Path root;
  private final Map<String, List<TestClass>> modules = new TreeMap<>();
  private final ClassGraph graph = new ClassGraph();

  private Changes(Path root) throws IOException {
    this.root = root;
    for (Path folder : Plan.modules(root)) {
      modules.put(root.relativize(folder).toString(), TestClass.below(folder));
      graph.add(folder.resolve("target/classes"));
      graph.add(folder.resolve("target/test-classes"));
    }
  }

  /**
   * Prints modules and classes, one of each to a line; on standard error what they were chosen for.
   *
   * @param args the project's folder
   * @throws IOException if git or the tree cannot be read
   * @throws InterruptedException if it is ended
   */
  public static void main(String[] args) throws IOException, InterruptedException {
    Path root = Path.of(args[0]);
    List<String> files = changedFiles(root);
    if (files.isEmpty()) {
      System.err.println("jofi: nothing differs from the last commit");
      return;
    }
    new Changes(root).choose(files).forEach(System.out::println);
  }

  private static List<String> changedFiles(Path root) throws IOException, InterruptedException {
    List<String> files = new ArrayList<>();
    files.addAll(git(root, "diff", "--name-only", "HEAD"));
    files.addAll(git(root, "ls-files", "--others", "--exclude-standard"));
    return files;
  }

  private static List<String> git(Path root, String... words)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("git", "-C", root.toString()));
    command.addAll(List.of(words));
    Process git =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    String out = new String(git.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (git.waitFor() != 0) {
      throw new IOException("git cannot tell what has changed");
    }
    return out.lines().toList();
  }

  private Set<String> choose(List<String> files) throws IOException {
    Set<String> types = new HashSet<>();
    Set<String> changed = new LinkedHashSet<>();
    Set<String> whole = new LinkedHashSet<>();
    for (String file : files) {
      String module = module(file);
      changed.add(module);
      Matcher source = SOURCE.matcher(file);
      if (source.matches()) {
        types.add(source.group("type").replace('/', '.'));
      } else {
        whole.add(module);
      }
    }
    Map<String, Integer> distances = graph.distances(types);
    List<Reached> reached = new ArrayList<>();
    Expectations expectations =
        Expectations.read(
            root.resolve(".jofi/tests/seconds.txt"),
            Budgets.read(root.resolve("test-harness/runner/budgets.txt"), false));
    modules.forEach(
        (module, classes) ->
            classes.forEach(
                type -> {
                  int distance =
                      whole.contains(module) ? 1 : distances.getOrDefault(type.name(), UNREACHED);
                  if (distance != UNREACHED) {
                    reached.add(
                        new Reached(
                            module,
                            type,
                            distance,
                            expectations.seconds(module, type.name(), classes.size())));
                  }
                }));
    return choose(files.size(), changed, reached);
  }

  private String module(String file) {
    return modules.keySet().stream()
        .filter(module -> !module.isEmpty() && file.startsWith(module + "/"))
        .max(Comparator.comparingInt(String::length))
        .orElse(PAGES);
  }

  private static Set<String> choose(int files, Set<String> changed, List<Reached> reached) {
    List<Reached> near = reached.stream().filter(one -> changed.contains(one.module)).toList();
    List<Reached> candidates =
        (near.isEmpty() ? reached : near)
            .stream()
                .sorted(
                    Comparator.comparingInt(Reached::distance)
                        .thenComparingDouble(Reached::seconds))
                .toList();
    double most = SECONDS * Runtime.getRuntime().availableProcessors();
    double sum = 0;
    Set<Reached> chosen = new LinkedHashSet<>();
    for (Reached one : candidates) {
      if (chosen.isEmpty() || sum + one.seconds <= most) {
        sum += one.seconds;
        chosen.add(one);
      }
    }
    System.err.printf(
        Locale.ROOT,
        "jofi: %d changed files; %d test classes reach them, of which the nearest %d run%n",
        files,
        reached.size(),
        chosen.size());
    Map<String, Long> out =
        reached.stream()
            .filter(one -> !chosen.contains(one))
            .collect(Collectors.groupingBy(Reached::module, TreeMap::new, Collectors.counting()));
    if (!out.isEmpty()) {
      System.err.println(
          "jofi: left out, for ./jofi test: "
              + out.entrySet().stream()
                  .map(entry -> entry.getValue() + " of " + entry.getKey())
                  .collect(Collectors.joining(", ")));
    }
    return chosen.stream()
        .map(one -> one.module + " " + one.type.name())
        .collect(Collectors.toCollection(LinkedHashSet::new));
  }
}

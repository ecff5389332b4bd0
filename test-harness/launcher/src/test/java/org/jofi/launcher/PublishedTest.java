package org.jofi.launcher;

import static org.jofi.launcher.LauncherTree.assertContains;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * What is published, as those see it who take it from there: programs of somebody else's, of the
 * projects in {@code test-harness/published}, and whoever unpacks an archive.
 */
@Tag("long")
@Timeout(value = 40, unit = TimeUnit.MINUTES)
class PublishedTest {
  private static final Path PROJECTS = LauncherTree.PROJECT.resolve("test-harness/published");
  private static final Path JAVA = Path.of(System.getProperty("java.home"), "bin", "java");
  private static final long BOUND_SECONDS = 120;
  private static final Pattern NEEDED_GLIBC = Pattern.compile("GLIBC_2\\.(\\d+)");
  private static final Pattern CLASSIFIER =
      Pattern.compile(".*-linux-x86_64-glibc2\\.(\\d+)\\.zip");

  private static final byte[] ELF = {0x7f, 'E', 'L', 'F'};

  /** With no code of its own. */
  private static final Set<String> POMS = Set.of("jofi", "jofi-bom", "jofi-parent");

  private static final Set<String> ARCHIVES = Set.of("jofi-command-line", "jofi-nccl-plugin");

  @TempDir private static Path folder;
  private static PublishedRepository published;

  @BeforeAll
  static void publish() throws Exception {
    published = PublishedRepository.of(folder);
  }

  @Test
  void eachHasWhatARepositoryAsksFor() throws Exception {
    List<String> jars = jars();
    assertTrue(jars.size() >= 10, jars::toString);
    for (String artifact : published.artifacts()) {
      assertContains(published.said(), "\n" + artifact + " ");
      checkSums(published.file(artifact, "\\.pom"));
    }
    for (String artifact : jars) {
      for (String end : List.of("\\.jar", "-sources\\.jar", "-cyclonedx\\.json")) {
        checkSums(published.file(artifact, end));
      }
    }
    // That of the others is made in the same way, by a property that a test of the poms compares.
    checkSums(published.file("jofi-transport", "-javadoc\\.jar"));
  }

  private static List<String> jars() throws IOException {
    List<String> jars = new ArrayList<>(published.artifacts());
    assertTrue(jars.removeAll(POMS) && jars.removeAll(ARCHIVES), jars::toString);
    return jars;
  }

  private static void checkSums(Path file) throws Exception {
    assertTrue(Files.size(file) > 0, file::toString);
    String sum =
        HexFormat.of()
            .formatHex(MessageDigest.getInstance("SHA-1").digest(Files.readAllBytes(file)));
    assertEquals(sum, Files.readString(file.resolveSibling(file.getFileName() + ".sha1")).strip());
  }

  /** Built in another folder, at another time: the jars that this project's own build made. */
  @Test
  void theJarsAreTheSameWhereverTheyAreBuilt() throws Exception {
    List<String> different = new ArrayList<>();
    for (String artifact : jars()) {
      Path own = built(artifact + "-" + PublishedRepository.version() + ".jar");
      Path other = published.file(artifact, "\\.jar");
      // The archiver of the Java that Maven runs on writes the module's descriptor.
      assumeTrue(
          maker(own).equals(maker(other)),
          () ->
              own
                  + " was made by Maven on another Java than ./jofi runs it on. To have it made"
                  + " again: remove it, and type ./jofi test");
      if (Files.mismatch(own, other) >= 0) {
        different.add(own.toString());
      }
    }
    assertEquals(List.of(), different);
  }

  private static String maker(Path jar) throws IOException {
    try (JarFile open = new JarFile(jar.toFile())) {
      Attributes says = open.getManifest().getMainAttributes();
      String archiver = says.getValue("Build-Tool-Jdk-Spec");
      return archiver == null ? says.getValue("Build-Jdk-Spec") : archiver;
    }
  }

  private static Path built(String name) throws IOException {
    try (Stream<Path> files = Files.walk(LauncherTree.PROJECT, 4)) {
      return files
          .filter(file -> file.getFileName().toString().equals(name))
          .filter(file -> file.getParent().endsWith("target"))
          .findFirst()
          .orElseThrow(() -> new AssertionError("nobody built " + name));
    }
  }

  @Test
  void aProjectOnTheClassPathExchangesBetweenTwoProcesses() throws Exception {
    Path project = project("class-path");
    String jars = joined(project.resolve("target/jars"));

    exchange(
        project,
        ConsumerTest.flags().getLast(),
        "--class-path",
        project.resolve("target/classes") + ":" + jars,
        "exchange.Exchange");
  }

  @Test
  void aProjectOnTheModulePathExchangesBetweenTwoProcesses() throws Exception {
    Path project = project("module-path");

    exchange(
        project,
        ConsumerTest.flags().getFirst(),
        "--module-path",
        project.resolve("target/classes") + ":" + project.resolve("target/jars"),
        "--module",
        "exchange/exchange.Exchange");
  }

  /** Puts the project outside of the tree, and has Maven compile it against what is published. */
  private static Path project(String name) throws Exception {
    Path project = Files.createDirectory(folder.resolve(name));
    Path sources = Files.createDirectories(project.resolve("src/main/java"));
    Path code = Files.createDirectories(sources.resolve("exchange"));
    Files.copy(PROJECTS.resolve("Exchange.java"), code.resolve("Exchange.java"));
    Files.copy(PROJECTS.resolve(name).resolve("pom.xml"), project.resolve("pom.xml"));
    Path module = PROJECTS.resolve(name).resolve("module-info.java");
    if (Files.exists(module)) {
      Files.copy(module, sources.resolve("module-info.java"), StandardCopyOption.REPLACE_EXISTING);
    }
    PublishedRepository.maven(
        project,
        "compile",
        "-Dmaven.repo.local=" + published.localRepository(),
        "-Djofi.version=" + PublishedRepository.version(),
        "-Djofi.repository=" + published.folder().toUri());
    return project;
  }

  private static String joined(Path jars) throws IOException {
    try (Stream<Path> all = Files.list(jars)) {
      return String.join(":", all.map(Path::toString).sorted().toList());
    }
  }

  private static void exchange(Path project, String flags, String... program) throws Exception {
    List<String> command = new ArrayList<>(List.of(JAVA.toString()));
    command.addAll(List.of(flags.split(" ")));
    command.addAll(List.of("--illegal-native-access=deny", "-XX:TieredStopAtLevel=1"));
    command.addAll(List.of(program));
    command.add("tcp");
    Process receiver =
        PublishedRepository.builder(project, command.toArray(String[]::new))
            .redirectErrorStream(true)
            .start();
    try {
      BufferedReader says = receiver.inputReader();
      String handle = says.readLine();
      assertNotNull(handle, "the receiver printed nothing");
      assertTrue(handle.matches("[0-9a-f]+"), () -> handle + "\n" + says.lines().toList());
      command.add(handle);
      assertEquals(
          "sent 1048576 bytes\n", PublishedRepository.run(project, command.toArray(String[]::new)));
      assertEquals(List.of("received 1048576 bytes"), says.lines().toList());
      assertTrue(receiver.waitFor(BOUND_SECONDS, TimeUnit.SECONDS));
      assertEquals(0, receiver.exitValue());
    } finally {
      receiver.destroyForcibly();
    }
  }

  @Test
  void theCommandLineRunsWhereItIsUnpacked() throws Exception {
    Path archive = published.file("jofi-command-line", "\\.tar\\.gz");
    Path there = Files.createDirectory(folder.resolve("un packed"));
    PublishedRepository.run(there, "tar", "xzf", archive.toString());
    Path jofi = there.resolve("jofi-" + PublishedRepository.version() + "/jofi");

    assertContains(
        PublishedRepository.run(there, jofi.toString(), "--help"),
        "usage: jofi COMMAND",
        "JAVA_HOME",
        "  allreduce ");
    assertContains(PublishedRepository.run(there, jofi.toString(), "info"), "PROVIDER", "tcp");
    assertContains(
        PublishedRepository.run(
            there,
            jofi.toString(),
            "allreduce",
            "-n",
            "2",
            "-p",
            "tcp",
            "-s",
            "4,64K",
            "-k",
            "3",
            "--prepare=0.1"),
        "every element of every round was the exact sum");
    assertTrue(Files.size(jofi.resolveSibling("sbom.cyclonedx.json")) > 0);
  }

  @Test
  void theCommandLineSaysWhichJavaItLacks() throws Exception {
    Path there = Files.createDirectory(folder.resolve("no java"));
    PublishedRepository.run(
        there, "tar", "xzf", published.file("jofi-command-line", "\\.tar\\.gz").toString());
    ProcessBuilder builder =
        PublishedRepository.builder(
                there,
                there.resolve("jofi-" + PublishedRepository.version() + "/jofi").toString(),
                "info")
            .redirectErrorStream(true);
    builder.environment().put("JAVA_HOME", there.toString());
    builder.environment().put("JOFI_JVM_DIR", there.toString());
    // All that the script needs, and no java.
    Path tools = Files.createDirectory(there.resolve("bin"));
    for (String tool : List.of("bash", "env", "dirname", "readlink")) {
      Files.createSymbolicLink(tools.resolve(tool), Path.of("/usr/bin", tool));
    }
    builder.environment().put("PATH", tools.toString());

    Process process = builder.start();
    String said = String.join("\n", process.inputReader().lines().toList());

    assertTrue(process.waitFor(BOUND_SECONDS, TimeUnit.SECONDS));
    assertEquals(3, process.exitValue(), said);
    assertContains(said, "JAVA_HOME: " + there + " has no bin/java", "missing: Java 25. Unpack");
  }

  @Test
  void thePluginsArchiveIsNamedAfterTheGlibcThatItNeeds() throws Exception {
    Path archive = published.file("jofi-nccl-plugin", "-linux-x86_64-glibc[0-9.]+\\.zip");
    Matcher named = CLASSIFIER.matcher(archive.getFileName().toString());
    assertTrue(named.matches(), archive::toString);
    Path there = Files.createDirectory(folder.resolve("plugin"));
    // Of the JDK that the tests run on.
    PublishedRepository.run(
        there, JAVA.resolveSibling("jar").toString(), "--extract", "--file", archive.toString());
    Path plugin = there.resolve("jofi-nccl-plugin-" + PublishedRepository.version());
    for (String file : List.of("LICENSE", "README.txt", "sbom.cyclonedx.json", "jre/bin/java")) {
      assertTrue(Files.size(plugin.resolve(file)) > 0, file);
    }
    int newest = 0;
    try (Stream<Path> files = Files.walk(plugin)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        if (isProgramOrLibrary(file)) {
          newest = Math.max(newest, neededGlibc(file));
        }
      }
    }
    assertEquals(Integer.parseInt(named.group(1)), newest, archive::toString);
  }

  private static boolean isProgramOrLibrary(Path file) throws IOException {
    try (InputStream content = Files.newInputStream(file)) {
      return Arrays.equals(content.readNBytes(ELF.length), ELF);
    }
  }

  /** The minor version of the newest glibc 2 that one of its symbols asks for; 0 if none does. */
  private static int neededGlibc(Path file) throws Exception {
    return NEEDED_GLIBC
        .matcher(PublishedRepository.run(folder, "readelf", "-VW", file.toString()))
        .results()
        .map((MatchResult found) -> found.group(1))
        .mapToInt(Integer::parseInt)
        .max()
        .orElse(0);
  }
}

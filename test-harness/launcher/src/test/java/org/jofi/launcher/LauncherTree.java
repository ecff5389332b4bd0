package org.jofi.launcher;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A copy of the launcher in a project of its own, on a machine of its own: a PATH with nothing on
 * it but the tools that any Linux has, and with programs that only note how they were called.
 */
final class LauncherTree {
  /** The project that this test belongs to; Surefire runs tests in the module's folder. */
  static final Path PROJECT = Path.of("").toAbsolutePath().getParent().getParent();

  private static final List<String> TOOLS =
      List.of(
          "bash",
          "cat",
          "dirname",
          "env",
          "find",
          "flock",
          "mkdir",
          "mv",
          "nice",
          "readlink",
          "rm",
          "sleep",
          "sort",
          "tail",
          "timeout",
          "touch");

  /** A folder with links to the tools; not in the trees, whose files tests write. */
  private static final Path LINKS = linkTools();

  private static final List<String> PARTS =
      List.of(
          "java.sh",
          "start-cache.sh",
          "packages.sh",
          "build.sh",
          "test-command.sh",
          "publish-command.sh");

  private final Path base;
  private final Path bin;
  private final Map<String, String> environment = new HashMap<>();
  private final List<String> prefix = new ArrayList<>();

  /** What a run left behind. */
  record Outcome(int exitCode, String out, String err) {}

  LauncherTree(Path base) throws IOException {
    this.base = base;
    bin = Files.createDirectories(base.resolve("machine/bin"));
    environment.put("PATH", bin + ":" + LINKS);
    environment.put("JOFI_JVM_DIR", Files.createDirectories(jvms()).toString());
    environment.put("JOFI_NO_INSTALL", "1");
    Files.createDirectories(root().resolve("test-harness/cli/src/main/java"));
    Files.writeString(root().resolve("pom.xml"), "<project/>");
    Files.writeString(source("Jofi.java"), "class Jofi {}");
    Files.copy(PROJECT.resolve("jofi"), root().resolve("jofi"), StandardCopyOption.COPY_ATTRIBUTES);
    Path parts = Files.createDirectories(root().resolve("test-harness/launcher"));
    for (String part : PARTS) {
      Files.copy(PROJECT.resolve("test-harness/launcher").resolve(part), parts.resolve(part));
    }
    program(ldconfig(), "echo 'libfabric.so.1 => /usr/lib/libfabric.so.1'");
    program(gcc(), "");
  }

  private static Path linkTools() {
    try {
      // Others than its owner use it, too.
      Path folder =
          Files.createTempDirectory(
              "launcher-tools",
              PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));
      folder.toFile().deleteOnExit();
      for (String tool : TOOLS) {
        Path link = Files.createSymbolicLink(folder.resolve(tool), Path.of("/usr/bin", tool));
        link.toFile().deleteOnExit();
      }
      return folder;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static boolean isRoot() {
    return "root".equals(System.getProperty("user.name"));
  }

  Path ldconfig() {
    return bin.resolve("ldconfig");
  }

  Path gcc() {
    return bin.resolve("gcc");
  }

  Path mvn() {
    return bin.resolve("mvn");
  }

  /** The project's folder; its name makes every missing quote show. */
  Path root() {
    return base.resolve("a project");
  }

  Path jvms() {
    return base.resolve("machine/jvm");
  }

  Path modules() {
    return root().resolve("test-harness/cli/target/modules");
  }

  Path source(String name) {
    return root().resolve("test-harness/cli/src/main/java").resolve(name);
  }

  LauncherTree with(String variable, String value) {
    environment.put(variable, value);
    return this;
  }

  /** From here on the launcher is run by a user who is not root. */
  LauncherTree asNobody() throws IOException {
    if (isRoot()) {
      Files.setPosixFilePermissions(base, PosixFilePermissions.fromString("rwxrwxrwx"));
      prefix.addAll(
          List.of("/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"));
    }
    return this;
  }

  /**
   * From here on the launcher's standard output and error are a terminal; both come out of the
   * program that provides it.
   */
  LauncherTree onTerminal() {
    prefix.addAll(List.of("/usr/bin/script", "-qefc", "\"$JOFI\" $ARGUMENTS", "/dev/null"));
    return this;
  }

  LauncherTree without(String variable) {
    environment.remove(variable);
    return this;
  }

  /**
   * A JDK whose java prints its arguments, one to a line, and exits with the code that FAKE_EXIT
   * names.
   */
  Path jdk(String name, String version) throws IOException {
    Path home = jvms().resolve(name);
    Files.createDirectories(home.resolve("bin"));
    Files.writeString(
        home.resolve("release"), "IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"" + version + "\"\n");
    program(
        home.resolve("bin/java"),
        """
        case $1 in
          -version) echo 'openjdk version "%s" 2025-09-16'; exit ;;
        esac
        printf '%%s\\n' "$0" "$@"
        exit "${FAKE_EXIT:-0}"
        """
            .formatted(version));
    program(home.resolve("bin/javac"), "exit 1");
    return home;
  }

  /**
   * As {@link #jdk}, with an image of classes, from which start caches are made: its java notes
   * each call that records or creates one.
   *
   * @param create what it does to create one, in shell
   */
  Path jdkWithStartCaches(String create) throws IOException {
    Path home = jdk("java-25", "25.0.3");
    Files.createDirectories(home.resolve("lib"));
    Files.createFile(home.resolve("lib/modules"));
    program(
        home.resolve("bin/java"),
        """
        printf '%%s\n' "$0" "$@"
        for argument; do
          case $argument in
            -XX:AOTCache=*) cache=${argument#*=} ;;
            -XX:AOTMode=*)
              mode=${argument#*=}
              echo "$mode" >>'%s'
              ;;
          esac
        done
        if [[ ${mode:-} == create ]]; then %s; fi
        """
            .formatted(calls("start-cache"), create));
    return home;
  }

  /** A Maven that notes its call and then does what the given lines of shell say. */
  void maven(String script) throws IOException {
    program(mvn(), "echo \"$*\" >>'" + calls("mvn") + "'\n" + script);
  }

  /** A Maven that builds: it lays out the program's modules. */
  void maven() throws IOException {
    maven(
        "mkdir -p '"
            + modules()
            + "'; for m in jofi-libfabric-1 jofi-libfabric-bindings-1 jofi-rdma-protocol-1; do"
            + " touch '"
            + modules()
            + "'/$m.jar; done");
  }

  /**
   * An apt of whose packages the shelf holds the files, and which knows none before the first
   * update.
   */
  void apt() throws IOException {
    onPath(
        "apt-cache",
        """
        if [[ -e '%1$s/updated' && -e '%1$s/'$2 ]]; then printf '%%s:\\n  Candidate: 1.0\\n' "$2"; fi
        """
            .formatted(shelf()));
    onPath(
        "apt-get",
        """
        package='%1$s/'${*: -1}
        case "$*" in
          *update) echo >'%1$s/updated' ;;
          *--print-uris*)
            echo 'Need to get 12.3 MB of archives.'
            echo 'After this operation, 45.6 MB of additional disk space will be used.'
            ;;
          *)
            if [[ ! -e '%1$s/updated' || ! -d $package ]]; then
              echo "E: Unable to locate package ${*: -1}"
              exit 100
            fi
            /bin/cp -a "$package/." '%2$s'
            ;;
        esac
        """
            .formatted(shelf(), base));
    Files.createDirectories(shelf());
  }

  /** Takes files off the machine, which the named package of apt brings back. */
  void shelve(String name, Path... files) throws IOException {
    for (Path file : files) {
      Path onShelf = shelf().resolve(name).resolve(base.relativize(file));
      Files.createDirectories(onShelf.getParent());
      Files.move(file, onShelf);
    }
  }

  /** Nothing on the machine that jofi needs, and all of it on apt's shelf. */
  void makeBare() throws IOException {
    apt();
    maven(
        "mkdir -p '%1$s' '%2$s'; command -v gcc >/dev/null && echo >'%2$s/libnccl-net-jofi.so'; echo"
                .formatted(modules(), pluginLibrary().getParent())
            + " >'"
            + modules()
            + "/jofi-libfabric-1.jar'");
    shelve("openjdk-25-jdk-headless", jdk("java-25", "25.0.3"));
    shelve("maven", mvn());
    shelve("gcc", gcc());
    Files.createDirectories(shelf().resolve("libc6-dev"));
    shelve("libfabric1", ldconfig());
    program(ldconfig(), "");
  }

  private Path shelf() {
    return base.resolve("shelf");
  }

  Path pluginLibrary() {
    return root()
        .resolve("api/nccl-net/target/classes/META-INF/native/linux-x86_64/libnccl-net-jofi.so");
  }

  /** Puts a program on the PATH, which notes its calls. */
  void onPath(String name, String script) throws IOException {
    program(bin.resolve(name), "echo \"$*\" >>'" + calls(name) + "'\n" + script);
  }

  /** The arguments of each call of a program so far. */
  List<String> callsOf(String name) throws IOException {
    return Files.exists(calls(name)) ? Files.readAllLines(calls(name)) : List.of();
  }

  /** Runs the launcher. */
  Outcome run(String... arguments) throws IOException, InterruptedException {
    return run(root().resolve("jofi"), root(), arguments);
  }

  /** Runs the launcher by another name, in another folder. */
  Outcome run(Path launcher, Path folder, String... arguments)
      throws IOException, InterruptedException {
    Path out = base.resolve("out");
    Path err = base.resolve("err");
    Process process =
        builder(launcher, folder, arguments)
            .redirectOutput(out.toFile())
            .redirectError(err.toFile())
            .start();
    if (!process.waitFor(120, TimeUnit.SECONDS)) {
      process.destroyForcibly();
      throw new IOException("the launcher did not end: " + Files.readString(err));
    }
    return new Outcome(process.exitValue(), Files.readString(out), Files.readString(err));
  }

  /** Starts the launcher and leaves it running. */
  Process start(String... arguments) throws IOException {
    return builder(root().resolve("jofi"), root(), arguments).start();
  }

  private ProcessBuilder builder(Path launcher, Path folder, String... arguments) {
    List<String> command = new ArrayList<>(prefix);
    if (!prefix.contains("/usr/bin/script")) {
      command.add(launcher.toString());
      command.addAll(List.of(arguments));
    }
    ProcessBuilder builder = new ProcessBuilder(command).directory(folder.toFile());
    builder.redirectInput(Path.of("/dev/null").toFile());
    builder.environment().clear();
    builder.environment().putAll(environment);
    builder.environment().put("JOFI", launcher.toString());
    builder.environment().put("ARGUMENTS", String.join(" ", arguments));
    return builder;
  }

  private Path calls(String name) {
    return base.resolve(name + ".calls");
  }

  /** Writes an executable script. */
  static void program(Path file, String script) throws IOException {
    Files.writeString(file, "#!/bin/bash\n" + script + "\n");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  /** Fails unless a text contains every part. */
  static void assertContains(String text, String... parts) {
    for (String part : parts) {
      assertTrue(text.contains(part), () -> "no \"" + part + "\" in:\n" + text);
    }
  }
}

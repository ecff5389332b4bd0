package org.jofi.nccl.layout;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * A cache of loaded and linked classes (JEP 483), from which the plugin's JVM starts in less time.
 * It is made of what that JVM loads in a training run: a program loads the plugin out of the folder
 * as NCCL does, and sends to itself over TCP. One thread.
 *
 * <p>A JVM that finds the cache unfit starts without it and says nothing. With what it would end
 * for, the plugin does not name it. So all that can be lost is time.
 */
final class StartCache {
  private static final String TRAINING = "/META-INF/native/linux-x86_64/training";

  /** What the JVM says of each class that it leaves out is nobody's business. */
  private static final List<String> QUIET = List.of("-Xlog:disable", "-Xlog:all=error:stderr");

  private static final String CONFIGURATION = "-XX:AOTConfiguration=configuration";

  private final PluginFolder plugin;
  private final Path folder;
  private final String libfabric;

  /**
   * @param plugin whose runtime is in it
   * @param folder where it is, at the time
   * @param libfabric the file to train with; empty for the folder's own, or else the system's
   */
  StartCache(PluginFolder plugin, Path folder, String libfabric) {
    this.plugin = plugin;
    this.folder = folder.toAbsolutePath();
    this.libfabric = libfabric;
  }

  /**
   * Makes it, with the profiles of the training (JEP 515), which tell the JIT compiler sooner what
   * is worth its while; without them, if the folder would be too large.
   *
   * @param scratch an empty folder, for what it takes on the way
   * @throws PluginFolderException if the training fails, the JVM makes no cache of it, or the
   *     folder is too large with it all the same
   */
  void write(Path scratch) throws IOException {
    train(scratch);
    create(scratch, List.of());
    if (plugin.bytes() > PluginFolder.MOST_BYTES) {
      create(scratch, List.of("-XX:+UnlockDiagnosticVMOptions", "-XX:-AOTReplayTraining"));
    }
    plugin.checkSize();
  }

  private void train(Path scratch) throws IOException {
    Path program = scratch.resolve("training");
    try (InputStream training =
        Objects.requireNonNull(StartCache.class.getResourceAsStream(TRAINING))) {
      Files.copy(training, program);
    }
    Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
    String library = folder.resolve(PluginFolder.LIBRARY).toString();
    Tool.run(List.of(program.toAbsolutePath().toString(), library), scratch, environment());
  }

  private void create(Path scratch, List<String> more) {
    List<String> command = new ArrayList<>();
    command.add(folder.resolve(PluginFolder.RUNTIME).resolve("bin/java").toString());
    command.addAll(List.of("-XX:AOTMode=create", CONFIGURATION));
    command.add("-XX:AOTCache=" + folder.resolve(PluginFolder.CACHE));
    // The collector and the heap that the plugin starts its JVM with.
    command.addAll(List.of("-XX:+UseSerialGC", "-Xmx256m"));
    command.add("-XX:VMOptionsFile=" + folder.resolve(PluginFolder.OPTIONS));
    command.addAll(QUIET);
    command.addAll(more);
    Tool.run(command, scratch, plugin.environment());
  }

  /** Of what the user has set, only what it takes to load libfabric: the cache is for others. */
  private Map<String, String> environment() {
    Map<String, String> environment = new HashMap<>(plugin.environment());
    environment.merge(
        PluginFolder.SEARCH_PATH,
        System.getenv().getOrDefault(PluginFolder.SEARCH_PATH, ""),
        (own, users) -> users.isEmpty() ? own : own + ":" + users);
    if (!libfabric.isEmpty()) {
      environment.put("JOFI_LIBFABRIC", libfabric);
    }
    environment.put("JOFI_WARM_UP", "0.3");
    // Options with a blank in them cannot be given here, so that paths are relative.
    environment.put(
        "JOFI_JVM_OPTS",
        "-XX:AOTMode=record %s %s".formatted(CONFIGURATION, String.join(" ", QUIET)));
    return environment;
  }
}

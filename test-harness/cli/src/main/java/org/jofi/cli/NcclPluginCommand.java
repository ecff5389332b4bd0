package org.jofi.cli;

import java.io.File;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jofi.nccl.layout.PluginFolder;
import org.jofi.nccl.layout.PluginFolderException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Makes the folder that NCCL loads the network plugin from. */
@Command(
    name = "nccl-plugin",
    mixinStandardHelpOptions = true,
    description = {
      "Lays out a folder with jofi as NCCL's network plugin: the library, its jars, a Java"
          + " runtime and a cache that it starts from, at most 64 MiB.",
      "It works from wherever it is copied to. The environment variables that make NCCL use it are"
          + " printed, as lines for a shell."
    })
final class NcclPluginCommand implements Callable<Integer> {
  @Option(
      names = {"-o", "--output"},
      paramLabel = "DIR",
      required = true,
      description = "The folder: new, empty, or one from before, which is replaced.")
  private Path output;

  @Option(
      names = "--libfabric",
      paramLabel = "FILE",
      description =
          "A libfabric.so.1 to put in as well, with the libraries that it needs, for machines that"
              + " have none. Those of drivers, of rdma-core and of the compiler stay the machine's"
              + " own.")
  private @Nullable Path libfabric;

  private Optional<String> withoutCache = Optional.empty();

  @CommandLine.Spec private CommandLine.Model.CommandSpec spec;

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    PrintWriter err = spec.commandLine().getErr();
    try {
      List<Path> modules = modulePath();
      PluginFolder folder =
          PluginFolder.create(output, modules, started -> complete(started, modules));
      withoutCache.ifPresent(
          why ->
              err.printf(
                  "jofi: %s has no start cache, and its JVM takes longer to start: %s%n",
                  output, why.lines().findFirst().orElse("")));
      double mebibytes = folder.checkSize() / (double) (1 << 20);
      err.printf("jofi: %s: %.1f MiB, for glibc %s and newer%n", output, mebibytes, folder.glibc());
      if (!folder.prerequisites().isEmpty()) {
        err.printf(
            "jofi: its libfabric needs of the machine that it is used on: %s%n",
            String.join(" ", folder.prerequisites()));
      }
      err.flush();
      folder.exports().forEach(out::println);
      out.flush();
      return ExitCode.OK;
    } catch (PluginFolderException failed) {
      err.println("jofi: " + failed.getMessage());
      err.flush();
      return failed.isLacking() ? ExitCode.ENVIRONMENT : ExitCode.FAILED;
    }
  }

  private void complete(PluginFolder folder, List<Path> modules) {
    // What can fail at once comes first.
    if (libfabric != null) {
      folder.withLibfabric(libfabric);
    }
    folder.withRuntime(Path.of(System.getProperty("java.home")), modules).checkSize();
    withoutCache = folder.withStartCache(libfabric == null ? chosenLibfabric() : "");
  }

  /** The one that this program would load; empty for the system's. */
  private static String chosenLibfabric() {
    String named = System.getProperty("jofi.libfabric", "");
    return named.isEmpty() ? System.getenv().getOrDefault("JOFI_LIBFABRIC", "") : named;
  }

  /** The module path of this program, or its class path with the same jars. */
  private static List<Path> modulePath() {
    String path = System.getProperty("jdk.module.path", System.getProperty("java.class.path"));
    return Arrays.stream(path.split(File.pathSeparator)).map(Path::of).toList();
  }
}

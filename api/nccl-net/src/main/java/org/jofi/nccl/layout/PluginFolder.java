package org.jofi.nccl.layout;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The folder that NCCL loads the plugin from. It can be copied anywhere.
 *
 * <pre>
 * libnccl-net-jofi.so   what NCCL loads
 * libnccl-net.so        a link to it, the name that NCCL looks for by default
 * modules/              the jars, for JVMs other than the one in jre
 * jvm.options           options for the JVM
 * jre/                  a Java runtime with only the modules that are needed, jofi's among them
 * jofi.aot              what it starts from in less time, if that could be made
 * lib/                  libfabric.so.1 and the libraries that it needs, if they are to be included
 * </pre>
 */
public final class PluginFolder {
  /** The library that NCCL loads. */
  public static final String LIBRARY = "libnccl-net-jofi.so";

  /** The name that NCCL looks for by default. */
  public static final String LINK = "libnccl-net.so";

  /** Largest size of a folder, in bytes. */
  public static final long MOST_BYTES = 64L << 20;

  static final String OPTIONS = "jvm.options";
  static final String MODULES = "modules";
  static final String RUNTIME = "jre";
  static final String CACHE = "jofi.aot";
  static final String LIBRARIES = "lib";

  static final String SEARCH_PATH = "LD_LIBRARY_PATH";

  /** One word in quotes, because export in some shells splits words. */
  private static final String REST_OF_SEARCH_PATH = "\"${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}\"";

  private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9_@%+=:,./-]+");

  /** For what is on the way to other files. */
  private static final String SCRATCH = ".scratch";

  private static final String RESOURCE = "/META-INF/native/linux-x86_64/" + LIBRARY;

  private final Path folder;

  private final SortedSet<String> prerequisites;

  private PluginFolder(Path folder, SortedSet<String> prerequisites) {
    this.folder = folder;
    this.prerequisites = prerequisites;
  }

  /** A folder that exists. */
  static PluginFolder of(Path folder) {
    return new PluginFolder(folder, new TreeSet<>());
  }

  /**
   * Makes a folder with the library, the jars and the options, but without a Java runtime.
   *
   * @see #create(Path, List, Consumer)
   */
  public static PluginFolder create(Path folder, List<Path> modulePath) {
    return create(folder, modulePath, started -> {});
  }

  /**
   * Makes a folder with the library, the jars, the options, and optional parts. If that fails,
   * everything is as it was before.
   *
   * @param folder a new or empty folder, or an earlier one of these, which is replaced
   * @param modulePath jars and folders with the modules
   * @param rest adds the optional parts, while the folder is not at its final place yet
   * @throws PluginFolderException if the folder contains something else, or a part is missing
   */
  public static PluginFolder create(
      Path folder, List<Path> modulePath, Consumer<PluginFolder> rest) {
    PluginModules modules = PluginModules.on(modulePath);
    SortedSet<String> prerequisites = new TreeSet<>();
    try {
      FolderSwap swap = FolderSwap.of(folder);
      try {
        PluginFolder started = new PluginFolder(swap.begin(), prerequisites);
        started.putLibrary();
        started.putModules(modules.files());
        Files.write(started.folder.resolve(OPTIONS), modules.options());
        rest.accept(started);
        swap.commit();
      } finally {
        swap.close();
      }
    } catch (IOException failed) {
      throw PluginFolderException.failed("cannot write %s: %s".formatted(folder, failed), failed);
    }
    return new PluginFolder(folder, prerequisites);
  }

  /**
   * Adds a Java runtime with the plugin's modules in it, made by jlink.
   *
   * @param javaHome a JDK
   * @throws PluginFolderException if it has no jlink, or jlink fails
   */
  public PluginFolder withRuntime(Path javaHome, List<Path> modulePath) {
    RuntimeImage image = new RuntimeImage(modulePath);
    add(RUNTIME, scratch -> image.write(javaHome, folder.resolve(RUNTIME), scratch));
    return this;
  }

  /**
   * Adds a cache from which the folder's own runtime starts in less time, unless the training for
   * it fails here, or the folder is too large with it. It comes last: it is made of all else.
   *
   * @param libfabric the file to train with; empty for the folder's own, or else the system's
   * @return why there is none; empty if there is one
   */
  public Optional<String> withStartCache(String libfabric) {
    try {
      add(CACHE, new StartCache(this, folder, libfabric)::write);
      return Optional.empty();
    } catch (PluginFolderException failed) {
      try {
        Files.deleteIfExists(folder.resolve(CACHE));
      } catch (IOException left) {
        failed.addSuppressed(left);
        throw failed;
      }
      return Optional.of(String.valueOf(failed.getMessage()));
    }
  }

  /**
   * Adds a libfabric and the libraries that it needs, except those that every system has and the
   * {@link #prerequisites}.
   *
   * @param library a libfabric.so.1
   * @throws PluginFolderException if the file is not a libfabric, or a library that it needs is
   *     missing
   */
  public PluginFolder withLibfabric(Path library) {
    if (!Files.isRegularFile(library)) {
      throw PluginFolderException.lacking("no file %s".formatted(library));
    }
    try {
      Path lib = Files.createDirectories(folder.resolve(LIBRARIES));
      Files.copy(library, lib.resolve("libfabric.so.1"));
      SharedLibraries needed = SharedLibraries.neededBy(library);
      for (Path file : needed.files()) {
        Files.copy(file, lib.resolve(file.getFileName()));
      }
      prerequisites.addAll(needed.others());
    } catch (IOException failed) {
      throw PluginFolderException.failed("cannot copy %s: %s".formatted(library, failed), failed);
    }
    return this;
  }

  /**
   * Returns the size of the folder in bytes.
   *
   * @throws PluginFolderException if it is more than {@link #MOST_BYTES}
   */
  public long checkSize() {
    long bytes = bytes();
    if (bytes > MOST_BYTES) {
      throw PluginFolderException.failed(
          "a plugin of %d bytes is too large: more than %d".formatted(bytes, MOST_BYTES), null);
    }
    return bytes;
  }

  /** Without what is on the way to other files. */
  long bytes() {
    Path scratch = folder.resolve(SCRATCH);
    try (Stream<Path> files = Files.walk(folder)) {
      return files
          .filter(file -> !file.startsWith(scratch))
          .filter(file -> Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS))
          .mapToLong(PluginFolder::size)
          .sum();
    } catch (IOException failed) {
      throw PluginFolderException.failed("cannot read %s: %s".formatted(folder, failed), failed);
    }
  }

  /**
   * The names of the libraries that its libfabric needs and that the machine where it runs must
   * have.
   */
  public SortedSet<String> prerequisites() {
    return Collections.unmodifiableSortedSet(prerequisites);
  }

  /**
   * The oldest version of glibc on which the library and its libfabric run.
   *
   * @return a version such as 2.34
   */
  public String glibc() {
    GlibcVersion least = new GlibcVersion(2, 0);
    try {
      for (Path library : libraries()) {
        GlibcVersion needed = GlibcVersion.neededBy(library).orElse(least);
        least = needed.compareTo(least) > 0 ? needed : least;
      }
    } catch (IOException failed) {
      throw PluginFolderException.failed("cannot read %s: %s".formatted(folder, failed), failed);
    }
    return least.toString();
  }

  private List<Path> libraries() throws IOException {
    List<Path> libraries = new ArrayList<>(List.of(folder.resolve(LIBRARY)));
    if (Files.isDirectory(folder.resolve(LIBRARIES))) {
      try (Stream<Path> files = Files.list(folder.resolve(LIBRARIES))) {
        files.filter(Files::isRegularFile).forEach(libraries::add);
      }
    }
    return libraries;
  }

  /** The environment variables that make NCCL use it, in order. */
  public Map<String, String> environment() {
    Path absolute = folder.toAbsolutePath().normalize();
    String path =
        Files.isDirectory(folder.resolve(LIBRARIES))
            ? absolute + ":" + absolute.resolve(LIBRARIES)
            : absolute.toString();
    return new TreeMap<>(
        Map.of(
            SEARCH_PATH,
            path,
            "NCCL_NET",
            "jofi",
            "NCCL_NET_PLUGIN",
            "jofi",
            "NCCL_NET_PLUGIN_REF_COUNT",
            "1"));
  }

  /**
   * Lines for a shell that set {@link #environment}; folders come before those that LD_LIBRARY_PATH
   * already has. They work in sh, whether eval gets them as one word or as several.
   */
  public List<String> exports() {
    return environment().entrySet().stream()
        .map(
            entry ->
                "export %s=%s%s;"
                    .formatted(
                        entry.getKey(),
                        quoted(entry.getValue()),
                        entry.getKey().equals(SEARCH_PATH) ? REST_OF_SEARCH_PATH : ""))
        .toList();
  }

  /** The text quoted for sh. */
  private static String quoted(String text) {
    return PLAIN.matcher(text).matches() ? text : "'" + text.replace("'", "'\\''") + "'";
  }

  /** Something that needs a folder for what is on the way to other files. */
  private interface Step {
    void in(Path scratch) throws IOException;
  }

  private void add(String what, Step step) {
    Path scratch = folder.resolve(SCRATCH);
    try {
      Files.createDirectory(scratch);
      try {
        step.in(scratch);
      } finally {
        FolderSwap.delete(scratch);
      }
    } catch (IOException failed) {
      throw PluginFolderException.failed(
          "cannot write %s in %s: %s".formatted(what, folder, failed), failed);
    }
  }

  private static long size(Path file) {
    try {
      return Files.size(file);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  private void putLibrary() throws IOException {
    try (InputStream library =
        Optional.ofNullable(PluginFolder.class.getResourceAsStream(RESOURCE))
            .orElseThrow(
                () ->
                    PluginFolderException.lacking(
                        "jofi was built without gcc, and so without %s. Install gcc and libc6-dev, and build again"
                            .formatted(LIBRARY)))) {
      Path file = folder.resolve(LIBRARY);
      Files.copy(library, file);
      Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
      Files.createSymbolicLink(folder.resolve(LINK), Path.of(LIBRARY));
    }
  }

  private void putModules(Map<String, Path> files) throws IOException {
    Path modules = Files.createDirectories(folder.resolve(MODULES));
    for (Map.Entry<String, Path> module : files.entrySet()) {
      Path source = module.getValue();
      if (Files.isDirectory(source)) {
        copy(source, modules.resolve(module.getKey()));
      } else {
        Files.copy(source, modules.resolve(source.getFileName()));
      }
    }
  }

  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> entries = Files.walk(from)) {
      for (Path entry : entries.toList()) {
        Files.copy(entry, to.resolve(from.relativize(entry)), StandardCopyOption.REPLACE_EXISTING);
      }
    }
  }
}

package org.jofi.nccl.layout;

import java.io.File;
import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.attribute.ModuleAttribute;
import java.lang.constant.ModuleDesc;
import java.lang.constant.PackageDesc;
import java.lang.module.ModuleDescriptor;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * A Java runtime, made by jlink, with the plugin's modules in it: an archive of their classes holds
 * wherever the runtime is copied to, and one of jars does not. One thread.
 */
final class RuntimeImage {
  /**
   * What only tools read, and what this JVM never asks for: classes of other programs' archives.
   */
  private static final String LEFT_OUT = "/java.base/lib/classlist,/java.base/lib/jrt-fs.jar";

  private final List<Path> modulePath;

  /**
   * @param modulePath jars and folders with the modules
   */
  RuntimeImage(List<Path> modulePath) {
    this.modulePath = modulePath;
  }

  /**
   * Makes it.
   *
   * @param javaHome a JDK
   * @param runtime a folder that does not exist
   * @param scratch an empty folder, for what it takes on the way
   * @throws PluginFolderException if the JDK has no jlink, or a module is missing, or jlink fails
   */
  void write(Path javaHome, Path runtime, Path scratch) throws IOException {
    Path jlink = javaHome.resolve("bin/jlink");
    if (!Files.isExecutable(jlink)) {
      throw PluginFolderException.lacking(
          "%s has no bin/jlink: set JAVA_HOME to a whole JDK 25".formatted(javaHome));
    }
    PluginModules modules = PluginModules.on(modulePath);
    Tool.run(
        List.of(
            jlink.toString(),
            "--module-path",
            String.join(
                File.pathSeparator,
                described(modules, scratch).values().stream().map(Path::toString).toList()),
            "--add-modules",
            String.join(",", modules.roots()),
            "--output",
            runtime.toString(),
            "--vm=server",
            "--strip-debug",
            "--no-man-pages",
            "--no-header-files",
            "--exclude-files=" + LEFT_OUT,
            "--compress=zip-6"));
    strip(runtime.resolve("lib/server/libjvm.so"));
  }

  /** The files of the modules; those that lack a descriptor with one, which jlink demands. */
  private static Map<String, Path> described(PluginModules modules, Path scratch)
      throws IOException {
    Map<String, Path> files = new TreeMap<>(modules.files());
    for (ModuleDescriptor module : modules.automatic()) {
      Path jar = scratch.resolve(module.name() + ".jar");
      Files.copy(modules.files().get(module.name()), jar);
      try (FileSystem inside = FileSystems.newFileSystem(jar)) {
        Files.write(inside.getPath("module-info.class"), descriptor(module, modules.platform()));
      }
      files.put(module.name(), jar);
    }
    return files;
  }

  /**
   * As an automatic module, it exports all its packages and reads all of the JDK that there is. In
   * order: a set's own differs from process to process, and an image is to be the same when it is
   * made again.
   */
  static byte[] descriptor(ModuleDescriptor module, Set<String> platform) {
    return ClassFile.of()
        .buildModule(
            ModuleAttribute.of(
                ModuleDesc.of(module.name()),
                attribute -> {
                  for (String read : new TreeSet<>(platform)) {
                    attribute.requires(
                        ModuleDesc.of(read),
                        read.equals("java.base") ? ClassFile.ACC_MANDATED : 0,
                        null);
                  }
                  new TreeSet<>(module.packages())
                      .forEach(name -> attribute.exports(PackageDesc.of(name), 0));
                }));
  }

  /**
   * Takes the names of the JVM's own functions away, a sixth of it. What is left of the price is
   * that a report of a crash names them by their addresses. Without the program for it, they stay.
   */
  private static void strip(Path library) {
    boolean possible =
        Arrays.stream(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator))
            .anyMatch(folder -> Files.isExecutable(Path.of(folder, "strip")));
    if (possible) {
      Tool.run(List.of("strip", "--strip-all", library.toString()));
    }
  }
}

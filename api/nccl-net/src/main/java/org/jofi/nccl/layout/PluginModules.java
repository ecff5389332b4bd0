package org.jofi.nccl.layout;

import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleDescriptor.Requires;
import java.lang.module.ModuleFinder;
import java.lang.module.ModuleReference;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The modules on a path that the plugin needs: its own, those that they require, and those with the
 * services that it needs. Modules for other programs are left out.
 *
 * @param files the files of the modules, by module name
 * @param automatic those of them whose files do not describe them
 * @param roots the names that all others follow from
 * @param platform the modules of the JDK
 */
record PluginModules(
    Map<String, Path> files,
    List<ModuleDescriptor> automatic,
    List<String> roots,
    Set<String> platform) {
  private static final List<String> ROOTS =
      List.of("org.jofi.nccl", "org.jofi.rdma", "org.jofi.libfabric");

  /** Modules that are found through services and may be missing. */
  private static final List<String> OPTIONAL_ROOTS = List.of("org.jofi.cuda");

  private static final Set<String> NATIVE =
      Set.of(
          "org.jofi.nccl",
          "org.jofi.rdma",
          "org.jofi.libfabric",
          "org.jofi.libfabric.bindings",
          "org.jofi.cuda",
          "org.jofi.cuda.bindings");

  /**
   * Finds the modules on a path.
   *
   * @param path jars and folders of modules
   * @throws PluginFolderException if a module is missing
   */
  static PluginModules on(List<Path> path) {
    ModuleFinder finder = ModuleFinder.of(path.toArray(Path[]::new));
    List<String> roots = new ArrayList<>(ROOTS);
    OPTIONAL_ROOTS.stream().filter(root -> finder.find(root).isPresent()).forEach(roots::add);
    Deque<String> wanted = new ArrayDeque<>(roots);
    Map<String, Path> files = new TreeMap<>();
    List<ModuleDescriptor> automatic = new ArrayList<>();
    Set<String> platform = new TreeSet<>(Set.of("java.base"));
    while (!wanted.isEmpty()) {
      String name = wanted.remove();
      if (files.containsKey(name) || platform.contains(name)) {
        continue;
      }
      Optional<ModuleReference> found = finder.find(name);
      if (found.isPresent()) {
        ModuleDescriptor descriptor = found.get().descriptor();
        files.put(name, Path.of(found.get().location().orElseThrow()));
        required(descriptor).forEach(wanted::add);
        if (descriptor.isAutomatic()) {
          automatic.add(descriptor);
        }
      } else if (ModuleFinder.ofSystem().find(name).isPresent()) {
        platform.add(name);
      } else {
        throw PluginFolderException.lacking(
            "module %s is not among those that this program was started with: %s"
                .formatted(name, path));
      }
    }
    return new PluginModules(files, automatic, roots, platform);
  }

  private static List<String> required(ModuleDescriptor module) {
    List<String> names = new ArrayList<>();
    for (Requires requires : module.requires()) {
      if (!requires.modifiers().contains(Requires.Modifier.STATIC)) {
        names.add(requires.name());
      }
    }
    return names;
  }

  /** The JVM's options, one per line. */
  List<String> options() {
    return List.of(
        "--add-modules=" + String.join(",", roots),
        "--enable-native-access="
            + String.join(",", files.keySet().stream().filter(NATIVE::contains).toList()));
  }
}

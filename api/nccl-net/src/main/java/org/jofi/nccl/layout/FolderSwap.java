package org.jofi.nccl.layout;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Replaces a plugin's folder with a new one when that is complete. The new one is built next to the
 * old one. An empty folder is filled directly, since it may be a mount point, which cannot be
 * moved. One thread.
 */
final class FolderSwap implements AutoCloseable {
  private static final Set<String> KNOWN =
      Set.of(
          PluginFolder.LIBRARY,
          PluginFolder.LINK,
          PluginFolder.OPTIONS,
          PluginFolder.MODULES,
          PluginFolder.RUNTIME,
          PluginFolder.CACHE,
          PluginFolder.LIBRARIES);

  private final Path place;
  private final Path building;
  private boolean over = true;

  private FolderSwap(Path place, Path building) {
    this.place = place;
    this.building = building;
  }

  /**
   * Prepares to replace a folder that does not exist, is empty, or contains a plugin.
   *
   * @throws PluginFolderException if it is something else
   */
  static FolderSwap of(Path folder) throws IOException {
    if (!Files.exists(folder)) {
      Path place = folder.toAbsolutePath().normalize();
      return new FolderSwap(place, beside(place, "new"));
    }
    Path place = folder.toRealPath();
    if (!Files.isDirectory(place)) {
      throw refused(folder, "is no folder");
    }
    Set<String> entries = entries(place);
    if (entries.isEmpty()) {
      return new FolderSwap(place, place);
    }
    String strange = strange(place, entries);
    if (strange != null) {
      throw refused(folder, "holds something else than a plugin: " + strange);
    }
    return new FolderSwap(place, beside(place, "new"));
  }

  private static PluginFolderException refused(Path folder, String why) {
    return PluginFolderException.failed("%s %s; name a new folder".formatted(folder, why), null);
  }

  /** Why these entries are not those of a plugin's folder; null if they are. */
  private static @Nullable String strange(Path place, Set<String> entries) throws IOException {
    List<String> unknown = entries.stream().filter(entry -> !KNOWN.contains(entry)).toList();
    if (!unknown.isEmpty()) {
      return unknown.getFirst()
          + (unknown.size() > 1 ? " and %d more".formatted(unknown.size() - 1) : "");
    }
    Path link = place.resolve(PluginFolder.LINK);
    if (!Files.isSymbolicLink(link)
        || !Files.readSymbolicLink(link).equals(Path.of(PluginFolder.LIBRARY))) {
      return "no link " + PluginFolder.LINK;
    }
    Path options = place.resolve(PluginFolder.OPTIONS);
    if (!Files.isRegularFile(options)
        || !Files.readString(options, StandardCharsets.ISO_8859_1).contains("org.jofi.nccl")) {
      return "no %s of jofi".formatted(PluginFolder.OPTIONS);
    }
    return Files.isDirectory(place.resolve(PluginFolder.MODULES), LinkOption.NOFOLLOW_LINKS)
        ? null
        : "no folder " + PluginFolder.MODULES;
  }

  private static Path beside(Path place, String role) {
    return place.resolveSibling(
        ".%s.%s-%d".formatted(place.getFileName(), role, ProcessHandle.current().pid()));
  }

  private static Set<String> entries(Path folder) throws IOException {
    try (Stream<Path> entries = Files.list(folder)) {
      return entries
          .map(entry -> entry.getFileName().toString())
          .collect(Collectors.toCollection(TreeSet::new));
    }
  }

  /** Returns the folder to build in, which is empty. */
  Path begin() throws IOException {
    over = false;
    if (!building.equals(place)) {
      Files.createDirectories(building);
    }
    return building;
  }

  /** Puts the complete new folder in place. */
  void commit() throws IOException {
    if (!building.equals(place)) {
      Path before = Files.exists(place) ? beside(place, "old") : null;
      if (before != null) {
        Files.move(place, before);
      }
      try {
        Files.move(building, place);
      } catch (IOException failed) {
        if (before != null) {
          Files.move(before, place);
        }
        throw failed;
      }
      if (before != null) {
        delete(before);
      }
    }
    over = true;
  }

  /** Without a commit before, everything is left as it was. */
  @Override
  public void close() throws IOException {
    if (over) {
      return;
    }
    over = true;
    if (building.equals(place)) {
      for (String entry : entries(place)) {
        delete(place.resolve(entry));
      }
    } else if (Files.exists(building)) {
      delete(building);
    }
  }

  static void delete(Path tree) throws IOException {
    Files.walkFileTree(
        tree,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            Files.delete(file);
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult postVisitDirectory(Path directory, @Nullable IOException failed)
              throws IOException {
            Files.delete(directory);
            return FileVisitResult.CONTINUE;
          }
        });
  }
}

package org.jofi.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Optional;
import org.jofi.cli.ranks.RankFailure;
import org.jspecify.annotations.Nullable;

/** The file of {@code --plot}, which is looked at before ranks measure and written afterwards. */
record PlotFile(Path file) {
  /**
   * The file of a path, if one is given.
   *
   * @throws IllegalArgumentException if it cannot be written
   */
  static Optional<PlotFile> of(@Nullable String path) {
    if (path == null) {
      return Optional.empty();
    }
    Path file;
    try {
      file = Path.of(path).toAbsolutePath();
    } catch (InvalidPathException e) {
      throw new IllegalArgumentException(
          "--plot %s is no file: %s".formatted(path, e.getMessage()), e);
    }
    @Nullable Path folder = file.getParent();
    if (folder == null
        || !Files.isDirectory(folder)
        || !Files.isWritable(folder)
        || Files.isDirectory(file)) {
      throw new IllegalArgumentException(
          "--plot %s cannot be written: name a file in a folder that is there and takes it"
              .formatted(path));
    }
    return Optional.of(new PlotFile(file));
  }

  /**
   * Writes it.
   *
   * @throws RankFailure if that fails
   */
  void write(String text) {
    try {
      Files.writeString(file, text, StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new RankFailure("--plot %s was not written: %s".formatted(file, e));
    }
  }
}

package org.jofi.fuzz;

import java.io.IOException;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * Inputs in files: what is well formed, which others are made from, and what was a defect once. A
 * file in the folder of a target is one input.
 */
final class Corpus {
  private Corpus() {}

  /** The folder of a target's inputs. */
  static Path folder(Target target) {
    URL all = Corpus.class.getResource("/corpus");
    if (all == null) {
      throw new IllegalStateException("no corpus in the resources");
    }
    try {
      return Path.of(all.toURI()).resolve(target.name().toLowerCase(Locale.ROOT).replace('_', '-'));
    } catch (URISyntaxException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  /** A target's inputs, at least one, in the order of their names. */
  static List<byte[]> inputs(Target target) throws IOException {
    List<byte[]> inputs = new ArrayList<>();
    try (Stream<Path> files = Files.list(folder(target))) {
      for (Path file : files.sorted().toList()) {
        inputs.add(Files.readAllBytes(file));
      }
    }
    if (inputs.isEmpty()) {
      throw new IllegalStateException("no input for " + target);
    }
    return inputs;
  }
}

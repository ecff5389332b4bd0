package org.jofi.doctor;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;

/** What may have become of a file. */
enum Damage {
  GONE,
  EMPTY,
  GARBAGE,
  MANY_LINES,
  DIGITS,
  ALL_ONES,
  HUGE,
  FOLDER,
  LINK_TO_ITSELF,
  LINK_TO_THE_ROOT,
  LINK_OUT;

  /** Beside the root. */
  static final String OUTSIDE = "secret";

  private static final int GARBAGE_BYTES = 5000;
  private static final long HUGE_BYTES = 1L << 40;

  void strike(MachineTree tree, String path, Random random) throws IOException {
    switch (this) {
      case GONE -> tree.remove(path);
      case EMPTY -> tree.write(path, "");
      case GARBAGE -> {
        byte[] garbage = new byte[GARBAGE_BYTES];
        random.nextBytes(garbage);
        tree.write(path, garbage);
      }
      case MANY_LINES -> tree.write(path, "HugePages_Total: 1\n0x1 0x2 0x3\n".repeat(20_000));
      case DIGITS -> tree.write(path, "9".repeat(40));
      case ALL_ONES -> tree.write(path, "0xffffffffffffffff 0xffffffffffffffff -1\n".repeat(9));
      case HUGE -> {
        tree.write(path, "");
        try (RandomAccessFile file = new RandomAccessFile(tree.at(path).toFile(), "rw")) {
          file.setLength(HUGE_BYTES);
        }
      }
      case FOLDER -> tree.remove(path).folder(path);
      case LINK_TO_ITSELF -> link(tree, path, tree.at(path).getFileName());
      case LINK_TO_THE_ROOT -> link(tree, path, tree.root());
      case LINK_OUT -> link(tree, path, tree.root().resolveSibling(OUTSIDE));
    }
  }

  private static void link(MachineTree tree, String path, Path target) throws IOException {
    Files.createSymbolicLink(tree.remove(path).at(path), target);
  }
}

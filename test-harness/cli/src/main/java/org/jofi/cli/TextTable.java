package org.jofi.cli;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;

/**
 * A table whose columns are as wide as their widest cell, with two spaces between columns and none
 * after the last.
 */
final class TextTable {
  private final List<String[]> rows = new ArrayList<>();
  private final int[] widths;

  TextTable(String... header) {
    widths = new int[header.length];
    row(header);
  }

  /** Adds a row with as many cells as the header. */
  void row(String... cells) {
    if (cells.length != widths.length) {
      throw new IllegalArgumentException(
          "%d cells for %d columns".formatted(cells.length, widths.length));
    }
    for (int i = 0; i < cells.length; i++) {
      widths[i] = Math.max(widths[i], cells[i].length());
    }
    rows.add(cells.clone());
  }

  void print(PrintWriter out) {
    for (String[] cells : rows) {
      StringBuilder line = new StringBuilder();
      for (int i = 0; i < cells.length; i++) {
        line.append(cells[i]).repeat(' ', widths[i] - cells[i].length() + 2);
      }
      out.println(line.toString().stripTrailing());
    }
  }
}

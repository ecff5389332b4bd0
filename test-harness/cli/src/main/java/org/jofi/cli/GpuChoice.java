package org.jofi.cli;

import java.util.ArrayList;
import java.util.List;

/**
 * Decides which GPU each rank of a machine uses.
 *
 * @param listed numbers of GPUs, which the machine's ranks use in turn; empty for all GPUs
 */
record GpuChoice(List<Integer> listed) {
  GpuChoice {
    listed = List.copyOf(listed);
  }

  /**
   * Reads a list such as {@code 0,1}.
   *
   * @throws IllegalArgumentException if the text is not such a list
   */
  static GpuChoice parse(String text) {
    List<Integer> listed = new ArrayList<>();
    for (String each : text.split(",", -1)) {
      if (!each.strip().matches("[0-9]{1,4}")) {
        throw new IllegalArgumentException(
            "--gpu takes numbers of GPUs with commas between, such as 0,1; not '%s'"
                .formatted(text));
      }
      listed.add(Integer.parseInt(each.strip()));
    }
    return new GpuChoice(listed);
  }

  /**
   * The GPU of a rank.
   *
   * @param localRank its number among the ranks of its machine
   * @param count how many GPUs the machine has, 1 or more
   */
  int of(int localRank, int count) {
    return listed.isEmpty() ? localRank % count : listed.get(localRank % listed.size());
  }
}

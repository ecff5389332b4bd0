package org.jofi.simulated.memory;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.agrona.collections.LongArrayList;

/**
 * Which addresses of this process are mapped for reading and writing, from {@code /proc/self/maps}.
 * Where there is no such file, everything counts as mapped. Used under the network's lock.
 */
public final class MappedRanges {
  private static final Path MAPS = Path.of("/proc/self/maps");

  private final boolean known = Files.isReadable(MAPS);
  private final LongArrayList starts = new LongArrayList();
  private final LongArrayList ends = new LongArrayList();

  /** As {@link #covers}, but always reads the current mappings. */
  public boolean coversNow(long address, long bytes) {
    if (known && bytes != 0) {
      read();
    }
    return covers(address, bytes);
  }

  /**
   * Whether the whole range is mapped; an empty range is. The mappings are read again only if the
   * range is not in the known ones, so memory that was unmapped since is not noticed.
   */
  public boolean covers(long address, long bytes) {
    if (bytes == 0 || !known) {
      return true;
    }
    if (address < 0 || address + bytes < 0) {
      return false;
    }
    if (find(address, bytes)) {
      return true;
    }
    read();
    return find(address, bytes);
  }

  private boolean find(long address, long bytes) {
    int low = 0;
    int high = starts.size() - 1;
    while (low <= high) {
      int middle = (low + high) >>> 1;
      if (ends.getLong(middle) <= address) {
        low = middle + 1;
      } else if (starts.getLong(middle) > address) {
        high = middle - 1;
      } else {
        return address + bytes <= ends.getLong(middle);
      }
    }
    return false;
  }

  private void read() {
    starts.clear();
    ends.clear();
    for (String line : lines()) {
      int dash = line.indexOf('-');
      int space = line.indexOf(' ');
      // Only memory that can be read and written counts. The kernel's own pages are skipped.
      if (space - dash > 13 || !line.startsWith("rw", space + 1)) {
        continue;
      }
      long start = Long.parseLong(line, 0, dash, 16);
      long end = Long.parseLong(line, dash + 1, space, 16);
      int last = ends.size() - 1;
      if (last >= 0 && ends.getLong(last) == start) {
        ends.setLong(last, end);
      } else {
        starts.addLong(start);
        ends.addLong(end);
      }
    }
  }

  private static List<String> lines() {
    try {
      return Files.readAllLines(MAPS);
    } catch (IOException e) {
      throw new java.io.UncheckedIOException("cannot read " + MAPS, e);
    }
  }
}

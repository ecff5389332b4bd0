package org.jofi.nccl.layout;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A version of the C library, such as 2.34. A library needs the C library's version in which the
 * functions that it calls changed last, and does not run on systems with an older one.
 */
record GlibcVersion(int major, int minor) implements Comparable<GlibcVersion> {
  private static final Pattern NAME = Pattern.compile("GLIBC_(\\d+)\\.(\\d+)(\\.\\d+)?");
  private static final Comparator<GlibcVersion> ORDER =
      Comparator.comparingInt(GlibcVersion::major).thenComparingInt(GlibcVersion::minor);

  // elf(5): 64 bits, little-endian.
  private static final int MAGIC = 0x464c_457f;
  private static final int HEADER_BYTES = 64;
  private static final int SECTIONS_AT = 40;
  private static final int SECTION_BYTES_AT = 58;
  private static final int SECTION_COUNT_AT = 60;
  private static final int TYPE = 4;
  private static final int OFFSET = 24;
  private static final int LINK = 40;
  private static final int VERSION_NEEDS = 0x6fff_fffe;
  private static final int AUXILIARY = 8;
  private static final int NEXT_FILE = 12;
  private static final int NAME_OF_VERSION = 8;
  private static final int NEXT_VERSION = 12;

  /**
   * The oldest version that a library runs on.
   *
   * @return empty if it needs none, or is not a 64-bit library
   */
  static Optional<GlibcVersion> neededBy(Path library) throws IOException {
    ByteBuffer file = ByteBuffer.wrap(Files.readAllBytes(library)).order(ByteOrder.LITTLE_ENDIAN);
    if (file.limit() < HEADER_BYTES || file.getInt(0) != MAGIC || file.get(4) != 2) {
      return Optional.empty();
    }
    try {
      int sections = Math.toIntExact(file.getLong(SECTIONS_AT));
      int bytes = Short.toUnsignedInt(file.getShort(SECTION_BYTES_AT));
      int count = Short.toUnsignedInt(file.getShort(SECTION_COUNT_AT));
      for (int section = sections; section < sections + count * bytes; section += bytes) {
        if (file.getInt(section + TYPE) == VERSION_NEEDS) {
          int names = sections + file.getInt(section + LINK) * bytes;
          return greatest(file, offset(file, section), offset(file, names));
        }
      }
      return Optional.empty();
    } catch (IndexOutOfBoundsException | ArithmeticException cut) {
      throw new IOException(library + " is cut off", cut);
    }
  }

  private static int offset(ByteBuffer file, int section) {
    return Math.toIntExact(file.getLong(section + OFFSET));
  }

  /** The newest of all versions that it needs. */
  private static Optional<GlibcVersion> greatest(ByteBuffer file, int needs, int names) {
    GlibcVersion greatest = new GlibcVersion(0, 0);
    int need = needs;
    int toNeed;
    do {
      int version = need + file.getInt(need + AUXILIARY);
      int toVersion;
      do {
        Matcher name = NAME.matcher(text(file, names + file.getInt(version + NAME_OF_VERSION)));
        if (name.matches()) {
          greatest =
              max(
                  greatest,
                  new GlibcVersion(
                      Integer.parseInt(name.group(1)), Integer.parseInt(name.group(2))));
        }
        toVersion = file.getInt(version + NEXT_VERSION);
        version += toVersion;
      } while (toVersion != 0);
      toNeed = file.getInt(need + NEXT_FILE);
      need += toNeed;
    } while (toNeed != 0);
    return greatest.major == 0 ? Optional.empty() : Optional.of(greatest);
  }

  private static GlibcVersion max(GlibcVersion one, GlibcVersion other) {
    return one.compareTo(other) >= 0 ? one : other;
  }

  private static String text(ByteBuffer file, int at) {
    int end = at;
    while (file.get(end) != 0) {
      end++;
    }
    byte[] bytes = new byte[end - at];
    file.get(at, bytes);
    return new String(bytes, StandardCharsets.ISO_8859_1);
  }

  @Override
  public int compareTo(GlibcVersion other) {
    return ORDER.compare(this, other);
  }

  @Override
  public String toString() {
    return major + "." + minor;
  }
}

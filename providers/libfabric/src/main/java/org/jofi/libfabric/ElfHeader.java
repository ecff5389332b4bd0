package org.jofi.libfabric;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Reads the header of a shared library: elf(5). It explains failures that the dynamic linker
 * reports badly: for a library of another machine type, the linker says that there is no such file.
 */
final class ElfHeader {
  private static final int BYTES = 20;
  private static final int MAGIC = 0x464c_457f;
  private static final int MACHINE = 18;
  private static final int X86_64 = 62;
  private static final int AARCH64 = 183;

  private ElfHeader() {}

  /**
   * Why this JVM cannot load the file, according to its header; null if the header shows no reason.
   */
  static @Nullable String problem(Path file) {
    try (InputStream in = Files.newInputStream(file)) {
      byte[] start = in.readNBytes(BYTES);
      ByteBuffer header = ByteBuffer.wrap(start).order(ByteOrder.LITTLE_ENDIAN);
      if (start.length < BYTES || header.getInt(0) != MAGIC) {
        return "is no shared library: it has no ELF header";
      }
      int machine = Short.toUnsignedInt(header.getShort(MACHINE));
      String mine = System.getProperty("os.arch");
      return machine == number(mine)
          ? null
          : "is for %s, and this JVM is for %s".formatted(name(machine), mine);
    } catch (IOException e) {
      return "cannot be read: " + e.getMessage();
    }
  }

  private static int number(String architecture) {
    return architecture.equals("aarch64") ? AARCH64 : X86_64;
  }

  private static String name(int machine) {
    return switch (machine) {
      case X86_64 -> "amd64";
      case AARCH64 -> "aarch64";
      default -> "machine type " + machine;
    };
  }
}

package org.jofi.rdma.wire;

import java.util.Arrays;
import java.util.Random;

/** Messages that a peer should not have sent: noise, cut short, with bits turned, spliced. */
final class HostileBytes {
  private HostileBytes() {}

  static byte[] from(Random random, byte[] sound) {
    return switch (random.nextInt(6)) {
      case 0 -> noise(random, random.nextInt(2200));
      case 1 -> Arrays.copyOf(sound, random.nextInt(sound.length + 1));
      case 2 -> Arrays.copyOf(sound, sound.length + random.nextInt(1, 64));
      case 3 -> {
        // Noise behind a header that is as it should be, length included.
        byte[] bytes = noise(random, sound.length);
        System.arraycopy(sound, 0, bytes, 0, Math.min(sound.length, MessageHeader.BYTES));
        yield bytes;
      }
      case 4 -> {
        byte[] bytes = sound.clone();
        int at = random.nextInt(bytes.length);
        bytes[at] = (byte) random.nextInt();
        yield bytes;
      }
      default -> {
        byte[] bytes = sound.clone();
        for (int i = random.nextInt(1, 4); i > 0; i--) {
          bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
        }
        yield bytes;
      }
    };
  }

  private static byte[] noise(Random random, int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }
}

package org.jofi.fuzz;

import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Inputs that are like those of a corpus: bits and bytes changed, numbers at their limits, parts
 * taken out, repeated, or taken from another one. The same seed gives the same.
 */
final class Mutations {
  private static final int MOST_BYTES = 8192;
  private static final int MOST_STEPS = 4;
  private static final byte[] LIMITS = {0, 1, -1, 127, -128, 64, 16};

  private final List<byte[]> corpus;
  private final SplittableRandom random;

  Mutations(List<byte[]> corpus, long seed) {
    this.corpus = corpus;
    this.random = new SplittableRandom(seed);
  }

  /** The next one. */
  byte[] next() {
    byte[] bytes = any().clone();
    for (int step = random.nextInt(1, MOST_STEPS + 1); step > 0; step--) {
      bytes = changed(bytes);
    }
    return bytes;
  }

  private byte[] any() {
    return corpus.get(random.nextInt(corpus.size()));
  }

  private byte[] changed(byte[] bytes) {
    if (bytes.length == 0) {
      return noise(random.nextInt(64));
    }
    int at = random.nextInt(bytes.length);
    switch (random.nextInt(8)) {
      case 0 -> bytes[at] ^= (byte) (1 << random.nextInt(8));
      case 1 -> bytes[at] = (byte) random.nextInt();
      case 2 -> {
        // A field, of any of the usual lengths.
        int end = Math.min(bytes.length, at + (1 << random.nextInt(4)));
        Arrays.fill(bytes, at, end, LIMITS[random.nextInt(LIMITS.length)]);
      }
      case 3 -> {
        return Arrays.copyOf(bytes, at);
      }
      case 4 -> {
        return joined(
            Arrays.copyOf(bytes, at), Arrays.copyOfRange(bytes, end(bytes, at), bytes.length));
      }
      case 5 -> {
        byte[] part = Arrays.copyOfRange(bytes, at, end(bytes, at));
        byte[] grown = Arrays.copyOf(bytes, at);
        for (int times = random.nextInt(1, 9); times > 0; times--) {
          grown = joined(grown, part);
        }
        return joined(grown, Arrays.copyOfRange(bytes, at, bytes.length));
      }
      case 6 -> {
        byte[] other = any();
        int from = other.length == 0 ? 0 : random.nextInt(other.length);
        return joined(Arrays.copyOf(bytes, at), Arrays.copyOfRange(other, from, other.length));
      }
      default -> {
        return joined(Arrays.copyOf(bytes, at), noise(random.nextInt(16)));
      }
    }
    return bytes;
  }

  /** Where a part ends that begins there. */
  private int end(byte[] bytes, int at) {
    return random.nextInt(at, bytes.length) + 1;
  }

  private byte[] noise(int length) {
    byte[] noise = new byte[length];
    for (int i = 0; i < length; i++) {
      noise[i] = (byte) random.nextInt();
    }
    return noise;
  }

  private static byte[] joined(byte[] one, byte[] other) {
    int length = Math.min(MOST_BYTES, one.length + other.length);
    byte[] both = Arrays.copyOf(one, Math.max(one.length, length));
    System.arraycopy(other, 0, both, one.length, both.length - one.length);
    return both;
  }
}

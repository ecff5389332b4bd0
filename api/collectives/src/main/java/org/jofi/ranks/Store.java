package org.jofi.ranks;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Small values by name, which all ranks of a run see, where {@link Ranks} meet: for what does not
 * fit into gatherings, as who comes first, or a count. It survives the loss of ranks: the store of
 * those that go on has what was in it. Any thread.
 *
 * <p>A key has 1 to {@value #MAX_KEY_BYTES} bytes in UTF-8, a value up to {@value
 * #MAX_VALUE_BYTES}; there are {@value #MAX_KEYS} keys at most, and 64 MiB of keys and values
 * together. Calls but {@link #get} wait for the server as long as joining could take.
 *
 * <p>Every call throws {@link RankLostException} if a rank of these is lost, {@link
 * RankTimeoutException} if no answer comes in time, and {@link IllegalStateException} once this
 * rank has left.
 */
public interface Store {
  /** Longest key, in bytes. */
  int MAX_KEY_BYTES = 256;

  /** Longest value, in bytes. */
  int MAX_VALUE_BYTES = 64 << 10;

  /** Most keys. */
  int MAX_KEYS = 4096;

  /**
   * Sets a value, in place of another one if there is one.
   *
   * @param key its name
   * @param value its bytes, which are copied
   * @throws IllegalArgumentException if either is too long
   * @throws IllegalStateException if the store is full
   */
  void set(String key, byte[] value);

  /**
   * Waits for a value.
   *
   * @param key its name
   * @param timeout how long to wait until somebody has set it, and the server has said so
   * @return its bytes
   * @throws IllegalArgumentException if the key is too long
   * @throws RankTimeoutException if nobody has set it in time
   */
  byte[] get(String key, Duration timeout);

  /**
   * Adds to a number, which is 8 bytes, the first of them the most significant.
   *
   * @param key its name; what is absent counts as 0
   * @param amount what to add, which may be negative; the sum wraps around
   * @return the sum
   * @throws IllegalArgumentException if the key is too long
   * @throws IllegalStateException if the value is no number, or the store is full
   */
  long add(String key, long amount);

  /**
   * Sets a value if the one that is there is as expected. Of several ranks that expect the same,
   * one succeeds.
   *
   * @param key its name
   * @param expected the bytes that must be there; null for that nothing may be
   * @param value the bytes to set; null to remove the key
   * @return whether they were set
   * @throws IllegalArgumentException if something is too long
   * @throws IllegalStateException if the store is full
   */
  boolean compareAndSet(String key, byte @Nullable [] expected, byte @Nullable [] value);
}

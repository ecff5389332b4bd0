package org.jofi.runtime;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * Numbers that no peer guesses: each is a hash of a secret and a count. Any thread, and none waits
 * for another, as those of a {@link java.security.SecureRandom} do: they are drawn with an
 * endpoint's lock held, with which nobody is to wait.
 */
final class RandomNumbers implements LongSupplier {
  private static final int SECRET_BYTES = 32;

  /** What took in the secret alone, and is only copied from then on. */
  private final MessageDigest secret;

  private final AtomicLong count = new AtomicLong();

  RandomNumbers() {
    byte[] seed = new byte[SECRET_BYTES];
    new SecureRandom().nextBytes(seed);
    try {
      secret = MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
    secret.update(seed);
  }

  @Override
  public long getAsLong() {
    MessageDigest own;
    try {
      own = (MessageDigest) secret.clone();
    } catch (CloneNotSupportedException e) {
      throw new IllegalStateException("SHA-256 cannot be copied", e);
    }
    own.update(ByteBuffer.allocate(Long.BYTES).putLong(0, count.getAndIncrement()));
    return ByteBuffer.wrap(own.digest()).getLong();
  }
}

package org.jofi.ranks;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Arrays;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * What the ranks of a run and their server know, and prove to each other without sending it. Each
 * chooses random bytes, and answers with an HMAC-SHA256 over both, so that an answer that was
 * overheard is of no use again. Any thread.
 *
 * <p>An introduction is a rank's random bytes, its proof, and its {@link Hello}. Its proof is over
 * the server's challenge, its number, and all else of the introduction; the server's is over the
 * same and the rank's proof. Without a secret, the key is known to everybody.
 */
final class SharedSecret {
  /** Length of a challenge, of a rank's random bytes, and of a proof. */
  static final int BYTES = 32;

  private static final String ALGORITHM = "HmacSHA256";
  private static final byte[] RANK = "jofi bootstrap, rank".getBytes(StandardCharsets.UTF_8);
  private static final byte[] SERVER = "jofi bootstrap, server".getBytes(StandardCharsets.UTF_8);
  private static final SecureRandom RANDOM = new SecureRandom();

  private final SecretKeySpec key;
  private final boolean isEmpty;

  SharedSecret(String secret) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      // A key may not be empty, a secret may.
      key = new SecretKeySpec(digest.digest(secret.getBytes(StandardCharsets.UTF_8)), ALGORITHM);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java runtime has SHA-256", e);
    }
    isEmpty = secret.isEmpty();
  }

  /** Whether whoever can connect knows it. */
  boolean isEmpty() {
    return isEmpty;
  }

  /** Random bytes that nobody guesses, and that never come again. */
  static byte[] random() {
    byte[] bytes = new byte[BYTES];
    RANDOM.nextBytes(bytes);
    return bytes;
  }

  /** What a rank answers to a challenge. */
  byte[] introduction(byte[] challenge, int rank, Hello hello) {
    byte[] nonce = random();
    byte[] body = hello.encode();
    byte[] proof = hmac(RANK, challenge, rank, nonce, body);
    return ByteBuffer.allocate(2 * BYTES + body.length).put(nonce).put(proof).put(body).array();
  }

  /** Whether a rank that answered so knows the secret. */
  boolean proves(byte[] challenge, int rank, byte[] introduction) {
    return introduction.length >= 2 * BYTES
        && MessageDigest.isEqual(
            hmac(RANK, challenge, rank, part(introduction, 0), rest(introduction)),
            part(introduction, 1));
  }

  /** The proof of a server to a rank that introduced itself so. */
  byte[] welcome(byte[] challenge, int rank, byte[] introduction) {
    return hmac(SERVER, challenge, rank, introduction);
  }

  /** Whether the server that proves so knows the secret. */
  boolean isWelcome(byte[] challenge, int rank, byte[] introduction, byte[] welcome) {
    return MessageDigest.isEqual(welcome(challenge, rank, introduction), welcome);
  }

  /**
   * What a rank says of itself.
   *
   * @throws IllegalArgumentException if that is no introduction
   */
  static Hello hello(byte[] introduction) {
    if (introduction.length < 2 * BYTES) {
      throw new IllegalArgumentException("an introduction that ends early");
    }
    return Hello.decode(rest(introduction));
  }

  private static byte[] part(byte[] introduction, int index) {
    return Arrays.copyOfRange(introduction, index * BYTES, (index + 1) * BYTES);
  }

  private static byte[] rest(byte[] introduction) {
    return Arrays.copyOfRange(introduction, 2 * BYTES, introduction.length);
  }

  /** Over parts of which at most the last one has no fixed length. */
  private byte[] hmac(byte[] who, byte[] challenge, int rank, byte[]... parts) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(key);
      mac.update(who);
      mac.update(challenge);
      mac.update(ByteBuffer.allocate(Integer.BYTES).putInt(rank).array());
      for (byte[] part : parts) {
        mac.update(part);
      }
      return mac.doFinal();
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java runtime has " + ALGORITHM, e);
    }
  }
}

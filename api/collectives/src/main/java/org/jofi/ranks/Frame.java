package org.jofi.ranks;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A message on a bootstrap connection: a type, a length and a payload. Integers are big-endian.
 * Immutable, as long as nobody changes the payload's bytes.
 *
 * <pre>
 * 0 u32 magic "jofb"   4 u8 version   5 u8 type   6 u16 rank   8 u32 length   12 payload
 * </pre>
 */
final class Frame {
  /** Longest payload: with a thousand ranks, each can send 64 KiB, after their length. */
  static final int MAX_PAYLOAD_BYTES = (64 << 20) + 4 * 1024;

  /** Longest payload before ranks and server know each other. */
  static final int MAX_UNPROVEN_BYTES = 256 << 10;

  /** Largest number of ranks. */
  static final int MAX_RANKS = 1024;

  private static final int MAGIC = 'j' << 24 | 'o' << 16 | 'f' << 8 | 'b';
  private static final int VERSION = 2;
  private static final int HEADER_BYTES = 12;
  private static final int MAX_COPIED_BYTES = 64 << 10;

  enum Type {
    /** Rank to server, its first frame: an introduction, see {@link SharedSecret}. */
    HELLO(0),
    /** Rank to server: its part of a gathering. */
    PART(1),
    /** Server to rank: all parts, in the order of ranks, each after its length. */
    ALL(2),
    /** In both directions: a rank failed, with the reason as text. No other frame follows. */
    FAILED(3),
    /**
     * Rank to server, last frame: the rank is done, so the end of its connection is not a failure.
     */
    DONE(4),
    /**
     * Rank to server: whom do others wait for? Its rank is 0 in a gathering, 1 to go on without
     * those that are lost. And the answer: their numbers.
     */
    MISSING(5),
    /** Rank to server: it goes on without those that are lost. */
    SHRINK(6),
    /** Server to rank: the number that it has from now on, and how many are left. */
    SHRUNK(7),
    /** Server to rank, the first frame: random bytes, which the rank answers. */
    CHALLENGE(8),
    /** Server to rank: it is let in, with the proof that the server knows the secret. */
    WELCOME(9),
    /** Rank to server: a {@link StoreRequest}. */
    STORE(10),
    /** Server to rank: a {@link StoreAnswer}. */
    STORED(11),
    /** Server to rank: not all have joined in time. How many, their numbers, and words. */
    ABSENT(12);

    private final int code;

    Type(int code) {
      this.code = code;
    }
  }

  /** A frame of another release. */
  static final class VersionException extends IOException {
    private static final long serialVersionUID = 1L;

    VersionException(int version) {
      super(
          "bootstrap version %d, this side reads %d: run one release on all ranks"
              .formatted(version, VERSION));
    }
  }

  private final Type type;
  private final int rank;
  private final byte[] payload;

  /**
   * @param type the type
   * @param rank the rank that it is about
   * @param payload the payload, not copied
   */
  Frame(Type type, int rank, byte[] payload) {
    this.type = type;
    this.rank = rank;
    this.payload = payload;
  }

  Type type() {
    return type;
  }

  int rank() {
    return rank;
  }

  byte[] payload() {
    return payload;
  }

  static Frame of(Type type, int rank) {
    return new Frame(type, rank, new byte[0]);
  }

  static Frame failed(int rank, String words) {
    byte[] bytes = words.getBytes(StandardCharsets.UTF_8);
    return new Frame(
        Type.FAILED,
        rank,
        bytes.length > MAX_UNPROVEN_BYTES ? Arrays.copyOf(bytes, MAX_UNPROVEN_BYTES) : bytes);
  }

  /**
   * The number in a payload.
   *
   * @throws IllegalArgumentException if it is no number of ranks
   */
  static int number(byte[] payload) {
    if (payload.length == Integer.BYTES) {
      int number = ByteBuffer.wrap(payload).getInt();
      if (number >= 1 && number <= MAX_RANKS) {
        return number;
      }
    }
    throw new IllegalArgumentException("no number of ranks");
  }

  /** Says that ranks did not join. */
  static Frame absent(List<Integer> missing, String words) {
    byte[] text = words.getBytes(StandardCharsets.UTF_8);
    ByteBuffer out = ByteBuffer.allocate((1 + missing.size()) * Integer.BYTES + text.length);
    out.putInt(missing.size());
    missing.forEach(out::putInt);
    return new Frame(Type.ABSENT, missing.getFirst(), out.put(text).array());
  }

  /**
   * What a frame about ranks that did not join makes a rank throw.
   *
   * @param name of the first of them
   * @throws IllegalArgumentException if the payload is none
   */
  RankTimeoutException absence(String name) {
    ByteBuffer in = ByteBuffer.wrap(payload);
    int count = in.remaining() < Integer.BYTES ? 0 : in.getInt();
    if (count < 1 || count > MAX_RANKS || in.remaining() < count * Integer.BYTES) {
      throw new IllegalArgumentException("no ranks that are absent");
    }
    List<Integer> missing = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      missing.add(in.getInt());
    }
    String words = StandardCharsets.UTF_8.decode(in).toString();
    return new RankTimeoutException(missing, "%s failed: %s".formatted(name, words));
  }

  String words() {
    return new String(payload, StandardCharsets.UTF_8);
  }

  /**
   * Reads a frame.
   *
   * @throws EOFException if the connection ends, before a frame or within it
   * @throws IOException if the bytes are not a frame, or it is too long
   */
  static Frame read(DataInputStream in) throws IOException {
    return read(in, MAX_PAYLOAD_BYTES);
  }

  /** Reads a frame whose payload is no longer than this. */
  static Frame read(DataInputStream in, int mostBytes) throws IOException {
    int magic = in.readInt();
    if (magic != MAGIC) {
      throw new IOException("not from a jofi rank: begins with 0x%08x".formatted(magic));
    }
    int version = in.readUnsignedByte();
    if (version != VERSION) {
      throw new VersionException(version);
    }
    int code = in.readUnsignedByte();
    int rank = in.readUnsignedShort();
    int length = in.readInt();
    Type type =
        Arrays.stream(Type.values())
            .filter(each -> each.code == code)
            .findFirst()
            .orElseThrow(() -> new IOException("frame of type " + code));
    if (rank >= MAX_RANKS) {
      throw new IOException("frame about rank " + rank);
    }
    if (length < 0 || length > mostBytes) {
      throw new IOException("frame of %d bytes".formatted(Integer.toUnsignedLong(length)));
    }
    // Allocates memory only as bytes arrive, since a sender can claim any length.
    byte[] payload = in.readNBytes(length);
    if (payload.length < length) {
      throw new EOFException("frame ends after %d of %d bytes".formatted(payload.length, length));
    }
    return new Frame(type, rank, payload);
  }

  void write(DataOutputStream out) throws IOException {
    // Short ones are one packet; of long ones there is no copy for each of a thousand ranks.
    boolean isShort = payload.length <= MAX_COPIED_BYTES;
    ByteBuffer bytes =
        ByteBuffer.allocate(HEADER_BYTES + (isShort ? payload.length : 0))
            .putInt(MAGIC)
            .put((byte) VERSION)
            .put((byte) type.code)
            .putShort((short) rank)
            .putInt(payload.length);
    if (isShort) {
      bytes.put(payload);
    }
    out.write(bytes.array());
    if (!isShort) {
      out.write(payload);
    }
    out.flush();
  }
}

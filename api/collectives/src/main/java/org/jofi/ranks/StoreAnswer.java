package org.jofi.ranks;

import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * What the store answers to a request.
 *
 * <pre>
 * 0 u32 id   4 u8 status   5 value
 * </pre>
 */
final class StoreAnswer {
  enum Status {
    DONE(0),
    /** Another value is there than was expected. */
    OTHER(1),
    /** No place for more. */
    FULL(2),
    /** The value is no number. */
    NO_NUMBER(3),
    /** This rank has too many requests under way. */
    TOO_MANY(4);

    private final int code;

    Status(int code) {
      this.code = code;
    }

    private static Status of(int code) {
      return Arrays.stream(values())
          .filter(each -> each.code == code)
          .findFirst()
          .orElseThrow(() -> new IllegalArgumentException("an answer of kind " + code));
    }
  }

  private static final int HEADER_BYTES = 5;

  final int id;
  final Status status;
  final byte[] value;

  StoreAnswer(int id, Status status, byte[] value) {
    this.id = id;
    this.status = status;
    this.value = value;
  }

  Frame frame() {
    byte[] payload =
        ByteBuffer.allocate(HEADER_BYTES + value.length)
            .putInt(id)
            .put((byte) status.code)
            .put(value)
            .array();
    return new Frame(Frame.Type.STORED, 0, payload);
  }

  /**
   * Reads an answer.
   *
   * @throws IllegalArgumentException if the bytes are none
   */
  static StoreAnswer decode(byte[] payload) {
    if (payload.length < HEADER_BYTES) {
      throw new IllegalArgumentException("an answer of the store that ends early");
    }
    ByteBuffer in = ByteBuffer.wrap(payload);
    int id = in.getInt();
    Status status = Status.of(Byte.toUnsignedInt(in.get()));
    byte[] value = new byte[in.remaining()];
    in.get(value);
    return new StoreAnswer(id, status, value);
  }
}

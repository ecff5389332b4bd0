package org.jofi.ranks;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * What a rank asks of the store. Integers are big-endian.
 *
 * <pre>
 * 0 u32 id   4 u8 operation   5 u16 key length   key   i32 length, expected   i32 length, value
 * </pre>
 *
 * A length of -1 is for what is absent.
 */
final class StoreRequest {
  enum Operation {
    SET(0),
    /** Its answer waits until somebody has set the value. */
    GET(1),
    /** The request with the same id is not waited for any more; it has no answer. */
    CANCEL(2),
    ADD(3),
    COMPARE_AND_SET(4);

    private final int code;

    Operation(int code) {
      this.code = code;
    }

    private static Operation of(int code) {
      return Arrays.stream(values())
          .filter(each -> each.code == code)
          .findFirst()
          .orElseThrow(() -> new IllegalArgumentException("a request of kind " + code));
    }
  }

  private static final int FIXED_BYTES = 15;

  final int id;
  final Operation operation;
  final String key;
  final byte @Nullable [] expected;
  final byte @Nullable [] value;

  /**
   * @throws IllegalArgumentException if a key or value is too long
   */
  StoreRequest(
      int id,
      Operation operation,
      String key,
      byte @Nullable [] expected,
      byte @Nullable [] value) {
    int bytes = key.getBytes(StandardCharsets.UTF_8).length;
    if (bytes < 1 || bytes > Store.MAX_KEY_BYTES) {
      throw new IllegalArgumentException(
          "a key of %d bytes; they have 1 to %d".formatted(bytes, Store.MAX_KEY_BYTES));
    }
    check(expected);
    check(value);
    this.id = id;
    this.operation = operation;
    this.key = key;
    this.expected = expected;
    this.value = value;
  }

  private static void check(byte @Nullable [] value) {
    if (value != null && value.length > Store.MAX_VALUE_BYTES) {
      throw new IllegalArgumentException(
          "a value of %d bytes; they have %d at most"
              .formatted(value.length, Store.MAX_VALUE_BYTES));
    }
  }

  byte[] encode() {
    byte[] name = key.getBytes(StandardCharsets.UTF_8);
    ByteBuffer out =
        ByteBuffer.allocate(FIXED_BYTES + name.length + length(expected) + length(value));
    out.putInt(id).put((byte) operation.code).putShort((short) name.length).put(name);
    put(out, expected);
    put(out, value);
    return out.array();
  }

  /**
   * Reads a request.
   *
   * @throws IllegalArgumentException if the bytes are none
   */
  static StoreRequest decode(byte[] payload) {
    ByteBuffer in = ByteBuffer.wrap(payload);
    try {
      int id = in.getInt();
      Operation operation = Operation.of(Byte.toUnsignedInt(in.get()));
      byte[] name = new byte[Short.toUnsignedInt(in.getShort())];
      in.get(name);
      byte[] expected = take(in);
      byte[] value = take(in);
      if (in.hasRemaining()) {
        throw new IllegalArgumentException("a request to the store that is too long");
      }
      StoreRequest request =
          new StoreRequest(
              id, operation, new String(name, StandardCharsets.UTF_8), expected, value);
      request.checkValue();
      return request;
    } catch (BufferUnderflowException e) {
      throw new IllegalArgumentException("a request to the store that ends early", e);
    }
  }

  private void checkValue() {
    boolean fits =
        switch (operation) {
          case SET -> value != null;
          case ADD -> value != null && value.length == Long.BYTES;
          case GET, CANCEL, COMPARE_AND_SET -> true;
        };
    if (!fits) {
      throw new IllegalArgumentException("a request to the store without what it is to set");
    }
  }

  private static int length(byte @Nullable [] value) {
    return value == null ? 0 : value.length;
  }

  private static void put(ByteBuffer out, byte @Nullable [] value) {
    if (value == null) {
      out.putInt(-1);
    } else {
      out.putInt(value.length).put(value);
    }
  }

  private static byte @Nullable [] take(ByteBuffer in) {
    int length = in.getInt();
    if (length == -1) {
      return null;
    }
    if (length < 0 || length > in.remaining()) {
      throw new BufferUnderflowException();
    }
    byte[] value = new byte[length];
    in.get(value);
    return value;
  }
}

package org.jofi.cli.ranks;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;

/**
 * How a rank introduces itself.
 *
 * @param size how many ranks it believes there are
 * @param secret what only ranks of this run know; empty if whoever reaches the server may join
 * @param parameters what all ranks must have been started with alike, by the name of the option
 */
record Hello(int size, String secret, Map<String, String> parameters) {
  private static final int MOST_PARAMETERS = 64;

  byte[] encode() {
    int bytes = 12 + bytes(secret).length;
    for (Map.Entry<String, String> entry : parameters.entrySet()) {
      bytes += 8 + bytes(entry.getKey()).length + bytes(entry.getValue()).length;
    }
    ByteBuffer out = ByteBuffer.allocate(bytes);
    out.putInt(size);
    put(out, secret);
    out.putInt(parameters.size());
    parameters.forEach(
        (name, value) -> {
          put(out, name);
          put(out, value);
        });
    return out.array();
  }

  /**
   * Reads one.
   *
   * @throws IllegalArgumentException if it is none
   */
  static Hello decode(byte[] payload) {
    ByteBuffer in = ByteBuffer.wrap(payload);
    try {
      int size = in.getInt();
      String secret = text(in);
      int count = in.getInt();
      if (count < 0 || count > MOST_PARAMETERS) {
        throw new IllegalArgumentException(count + " parameters");
      }
      Map<String, String> parameters = new LinkedHashMap<>();
      for (int i = 0; i < count; i++) {
        parameters.put(text(in), text(in));
      }
      return new Hello(size, secret, parameters);
    } catch (BufferUnderflowException e) {
      throw new IllegalArgumentException("an introduction that ends early", e);
    }
  }

  /** What another rank was started with otherwise, in words; empty if nothing. */
  String differences(String rank, Hello other, String otherRank) {
    StringJoiner text = new StringJoiner("; ");
    if (size != other.size) {
      text.add("%s is one of %d, %s one of %d".formatted(rank, size, otherRank, other.size));
    }
    Map<String, String> all = new LinkedHashMap<>(parameters);
    other.parameters.forEach(all::putIfAbsent);
    for (String name : all.keySet()) {
      String mine = parameters.get(name);
      String its = other.parameters.get(name);
      if (!Objects.equals(mine, its)) {
        text.add(
            "%s is %s at %s and %s at %s"
                .formatted(name, shown(mine), rank, shown(its), otherRank));
      }
    }
    return text.toString();
  }

  private static String shown(@Nullable String value) {
    return value == null ? "absent" : value.isEmpty() ? "not given" : value;
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static void put(ByteBuffer out, String text) {
    byte[] bytes = bytes(text);
    out.putInt(bytes.length).put(bytes);
  }

  private static String text(ByteBuffer in) {
    int length = in.getInt();
    if (length < 0 || length > in.remaining()) {
      throw new IllegalArgumentException("text of %d bytes".formatted(length));
    }
    byte[] bytes = new byte[length];
    in.get(bytes);
    return new String(bytes, StandardCharsets.UTF_8);
  }
}

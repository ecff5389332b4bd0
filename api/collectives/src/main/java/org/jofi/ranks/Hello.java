package org.jofi.ranks;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;

/**
 * What a rank says of itself to the server.
 *
 * @param size the number of ranks that it was started with
 * @param parameters the options that must be the same for all ranks, by name
 */
record Hello(int size, Map<String, String> parameters) {
  static final int MOST_PARAMETERS = 64;

  byte[] encode() {
    int bytes = 8;
    for (Map.Entry<String, String> entry : parameters.entrySet()) {
      bytes += 8 + bytes(entry.getKey()).length + bytes(entry.getValue()).length;
    }
    ByteBuffer out = ByteBuffer.allocate(bytes);
    out.putInt(size);
    out.putInt(parameters.size());
    parameters.forEach(
        (name, value) -> {
          put(out, name);
          put(out, value);
        });
    return out.array();
  }

  /**
   * Reads a message.
   *
   * @throws IllegalArgumentException if the bytes are not such a message
   */
  static Hello decode(byte[] payload) {
    ByteBuffer in = ByteBuffer.wrap(payload);
    try {
      int size = in.getInt();
      int count = in.getInt();
      if (count < 0 || count > MOST_PARAMETERS) {
        throw new IllegalArgumentException(count + " parameters");
      }
      Map<String, String> parameters = new LinkedHashMap<>();
      for (int i = 0; i < count; i++) {
        parameters.put(text(in), text(in));
      }
      return new Hello(size, parameters);
    } catch (BufferUnderflowException e) {
      throw new IllegalArgumentException("an introduction that ends early", e);
    }
  }

  /** A text that lists the options in which another rank differs; empty if there are none. */
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

package org.jofi.collectives;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jofi.ranks.Ranks;
import org.jofi.ranks.RanksException;
import org.jspecify.annotations.Nullable;

/**
 * What a rank tells the others when they make a group.
 *
 * @param number tells the groups of a run apart, if it is the first rank's
 * @param chunkBytes of its messages
 * @param levels what it has two devices for; null if it has one
 */
record Greeting(long number, int chunkBytes, @Nullable TwoLevels levels) {
  /** Of what is told of two levels: it follows what is told of one device, as it always was. */
  private static final byte VERSION = 1;

  private static final int ONE_DEVICE_BYTES = Long.BYTES + Integer.BYTES;

  /**
   * What a rank with two devices tells.
   *
   * @param version of this part
   * @param withinHost the provider of its device for ranks of its host
   * @param host where it is; empty if it is not known
   */
  record TwoLevels(byte version, String withinHost, String host) {}

  static Greeting of(long number, int chunkBytes, @Nullable Levels levels) {
    return new Greeting(
        number,
        chunkBytes,
        levels == null
            ? null
            : new TwoLevels(
                VERSION, levels.withinHost().properties().provider(), levels.host().name()));
  }

  byte[] encode() {
    byte[] provider = bytes(levels == null ? "" : levels.withinHost);
    byte[] host = bytes(levels == null ? "" : levels.host);
    int more = levels == null ? 0 : 1 + 2 * Short.BYTES + provider.length + host.length;
    ByteBuffer out = ByteBuffer.allocate(ONE_DEVICE_BYTES + more);
    out.putLong(number).putInt(chunkBytes);
    if (levels != null) {
      out.put(levels.version);
      out.putShort((short) provider.length).put(provider);
      out.putShort((short) host.length).put(host);
    }
    return out.array();
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /**
   * What another rank told.
   *
   * @throws RanksException if it is no such thing
   */
  static Greeting decode(byte[] told, String rank) {
    ByteBuffer in = ByteBuffer.wrap(told);
    try {
      long number = in.getLong();
      int chunkBytes = in.getInt();
      if (!in.hasRemaining()) {
        return new Greeting(number, chunkBytes, null);
      }
      byte version = in.get();
      // Of what another version tells, only that it is another one is known.
      return new Greeting(
          number,
          chunkBytes,
          version == VERSION
              ? new TwoLevels(version, text(in), text(in))
              : new TwoLevels(version, "", ""));
    } catch (BufferUnderflowException e) {
      throw new RanksException(
          "%s told what is no greeting of a group: %d bytes; run one release on all ranks"
              .formatted(rank, told.length),
          e);
    }
  }

  private static String text(ByteBuffer in) {
    int length = Short.toUnsignedInt(in.getShort());
    if (length > in.remaining()) {
      throw new BufferUnderflowException();
    }
    byte[] bytes = new byte[length];
    in.get(bytes);
    return new String(bytes, StandardCharsets.UTF_8);
  }

  /**
   * Tells all ranks this, and hears it of them.
   *
   * @return what each told
   * @throws MismatchException if they cannot be one group; the message names two of them
   */
  List<Greeting> exchange(Ranks ranks, GroupOptions options) {
    List<byte[]> told = ranks.gather(encode(), options.timeout());
    List<Greeting> all = new ArrayList<>();
    for (int rank = 0; rank < told.size(); rank++) {
      Greeting other = decode(told.get(rank), ranks.name(rank));
      check(other, ranks.name(), ranks.name(rank));
      all.add(other);
    }
    return all;
  }

  private void check(Greeting other, String me, String its) {
    if (other.chunkBytes != chunkBytes) {
      throw new MismatchException(
          "ranks do not do the same: %s has chunks of %d bytes, %s of %d"
              .formatted(me, chunkBytes, its, other.chunkBytes));
    }
    TwoLevels mine = levels;
    TwoLevels others = other.levels;
    if (mine == null || others == null) {
      if ((mine == null) != (others == null)) {
        throw new MismatchException(
            "ranks do not do the same: %s has %s, %s %s; give all ranks Levels, or none, and run one release on all"
                .formatted(me, devices(mine), its, devices(others)));
      }
    } else if (mine.version != others.version) {
      throw new MismatchException(
          "%s speaks version %d of groups over two levels, %s version %d: run one release on all ranks"
              .formatted(me, mine.version, its, others.version));
    } else if (!mine.host.isEmpty()
        && mine.host.equals(others.host)
        && !mine.withinHost.equals(others.withinHost)) {
      throw new MismatchException(
          "ranks do not do the same: within their host, %s uses the provider %s, %s uses %s"
              .formatted(me, mine.withinHost, its, others.withinHost));
    }
  }

  private static String devices(@Nullable TwoLevels of) {
    return of == null
        ? "one device"
        : "two, of which %s is for its host"
            .formatted(of.withinHost.isEmpty() ? "one" : of.withinHost);
  }
}

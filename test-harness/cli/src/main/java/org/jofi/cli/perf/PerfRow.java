package org.jofi.cli.perf;

import java.nio.ByteBuffer;
import org.jofi.cli.ranks.Told;
import org.jofi.ranks.RanksException;

/**
 * The result for one length.
 *
 * @param bytes length of a message
 * @param count messages measured for each figure, in each direction
 * @param p50Nanos latency: the median
 * @param p99Nanos latency: 1 of 100 messages took longer
 * @param p999Nanos latency: 1 of 1000 messages took longer
 * @param bytesPerSecond bandwidth with a window of messages in flight; the sum of both directions
 *     if bidirectional
 * @param messagesPerSecond likewise
 * @param errors how many bytes were wrong, plus how many messages had a wrong length
 */
public record PerfRow(
    long bytes,
    int count,
    double p50Nanos,
    double p99Nanos,
    double p999Nanos,
    double bytesPerSecond,
    double messagesPerSecond,
    long errors) {

  /** The results of one rank. */
  record Measured(
      double p50Nanos, double p99Nanos, double p999Nanos, long streamNanos, long errors) {
    private static final int NUMBERS = 5;

    byte[] encode() {
      return ByteBuffer.allocate(NUMBERS * Long.BYTES)
          .putDouble(p50Nanos)
          .putDouble(p99Nanos)
          .putDouble(p999Nanos)
          .putLong(streamNanos)
          .putLong(errors)
          .array();
    }

    /**
     * What another rank told.
     *
     * @throws RanksException if that is no such thing
     */
    static Measured decode(byte[] bytes) {
      ByteBuffer in = Told.numbers(bytes, NUMBERS);
      return new Measured(
          in.getDouble(), in.getDouble(), in.getDouble(), in.getLong(), in.getLong());
    }
  }

  /**
   * Combines the results of both ranks: the latency is that of the first, the time of a stream that
   * of the slower one.
   */
  static PerfRow of(long bytes, int count, boolean bidirectional, Measured first, Measured second) {
    double seconds = Math.max(first.streamNanos, second.streamNanos) / 1e9;
    double rate = seconds == 0 ? 0 : (bidirectional ? 2.0 : 1.0) * count / seconds;
    return new PerfRow(
        bytes,
        count,
        first.p50Nanos,
        first.p99Nanos,
        first.p999Nanos,
        rate * bytes,
        rate,
        first.errors + second.errors);
  }
}

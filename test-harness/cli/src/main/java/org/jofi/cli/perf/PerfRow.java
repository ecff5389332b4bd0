package org.jofi.cli.perf;

import java.nio.ByteBuffer;

/**
 * What a length came to.
 *
 * @param bytes of a message
 * @param count messages measured for each figure, each way
 * @param p50Nanos latency: the median
 * @param p99Nanos latency: of 100 messages 1 took longer
 * @param p999Nanos latency: of 1000 messages 1 took longer
 * @param bytesPerSecond with a window of messages in flight; both ways together if bidirectional
 * @param messagesPerSecond likewise
 * @param errors bytes that were wrong, and messages of a wrong length
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

  /** What one side found out. */
  record Side(double p50Nanos, double p99Nanos, double p999Nanos, long streamNanos, long errors) {
    byte[] encode() {
      return ByteBuffer.allocate(5 * Long.BYTES)
          .putDouble(p50Nanos)
          .putDouble(p99Nanos)
          .putDouble(p999Nanos)
          .putLong(streamNanos)
          .putLong(errors)
          .array();
    }

    static Side decode(byte[] bytes) {
      ByteBuffer in = ByteBuffer.wrap(bytes);
      return new Side(in.getDouble(), in.getDouble(), in.getDouble(), in.getLong(), in.getLong());
    }
  }

  /** Joins both: latency is the first side's; a stream took as long as the slower one says. */
  static PerfRow of(long bytes, int count, boolean bidirectional, Side first, Side second) {
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

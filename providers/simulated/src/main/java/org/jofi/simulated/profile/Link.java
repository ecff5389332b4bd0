package org.jofi.simulated.profile;

/**
 * The network path from one NIC to another.
 *
 * @param latencyNanos time that a byte takes, in nanoseconds, at least 1
 * @param bytesPerSecond bandwidth, at least 1
 */
public record Link(long latencyNanos, long bytesPerSecond) {

  public Link {
    if (latencyNanos < 1) {
      throw new IllegalArgumentException("latency must be at least 1 ns, is " + latencyNanos);
    }
    if (bytesPerSecond < 1) {
      throw new IllegalArgumentException("bandwidth must be at least 1 B/s, is " + bytesPerSecond);
    }
  }

  /** A link with this latency in microseconds and this bandwidth in Gbit/s. */
  public static Link of(double latencyMicros, double gigabitsPerSecond) {
    return new Link(Math.round(latencyMicros * 1e3), Math.round(gigabitsPerSecond * 1e9 / 8));
  }

  /** How long this many bytes occupy the wire, in nanoseconds. */
  public long serializationNanos(long bytes) {
    return (long) (bytes * 1e9 / bytesPerSecond);
  }
}

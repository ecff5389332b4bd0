package org.jofi.transport;

/** What time limits are measured with. A lambda serves as one. Any thread. */
@FunctionalInterface
public interface NanoClock {
  /** {@return nanoseconds since a moment that is always the same; only differences count} */
  long nanoTime();

  /** {@return the JVM's own, {@link System#nanoTime}} */
  static NanoClock system() {
    return System::nanoTime;
  }
}

package org.jofi.simulated.trace;

/** The time of a network, in nanoseconds from an arbitrary point. */
public interface Clock {

  /** The current time. Never goes back. */
  long nanoTime();

  /** Whether time passes only through {@link #spend} and {@link #advanceTo}. */
  boolean isVirtual();

  /** Adds the time that an action took. Does nothing in real time, which passes by itself. */
  void spend(long nanos);

  /** Advances to this time. Does nothing in real time. */
  void advanceTo(long nanoTime);

  /** The machine's clock. */
  Clock REAL =
      new Clock() {
        @Override
        public long nanoTime() {
          return System.nanoTime();
        }

        @Override
        public boolean isVirtual() {
          return false;
        }

        @Override
        public void spend(long nanos) {}

        @Override
        public void advanceTo(long nanoTime) {}
      };

  /** A clock that starts at 0 and stands still unless it is advanced. For one thread. */
  final class Virtual implements Clock {
    private long now;

    @Override
    public long nanoTime() {
      return now;
    }

    @Override
    public boolean isVirtual() {
      return true;
    }

    @Override
    public void spend(long nanos) {
      now += nanos;
    }

    @Override
    public void advanceTo(long nanoTime) {
      now = Math.max(now, nanoTime);
    }
  }
}

package org.jofi.simulated;

/** Time of a network, in nanoseconds from no point in particular. */
interface Clock {

  /** Now. Never goes back. */
  long nanoTime();

  /** Whether time passes only when it is told to. */
  boolean isVirtual();

  /** What was done took that long; real time passes by itself. */
  void spend(long nanos);

  /** Lets time pass until then; real time passes by itself. */
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

  /** A clock that starts at 0 and stands still unless moved. For one thread. */
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

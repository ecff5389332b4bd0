package org.jofi.cli.perf;

import org.jofi.cli.ranks.Patience;
import org.jofi.transport.Comm;
import org.jofi.transport.Result;

/**
 * Operations of one kind, one after another, with a window of them in flight. For one thread;
 * allocates nothing once it is made.
 */
abstract class Flow {
  private final Comm comm;
  private final Patience patience;
  private final String name;
  private final long bytes;
  private final long[] requests;
  private int count;
  private int posted;
  private int done;
  private long wrongLengths;

  /**
   * @param comm whose requests they are
   * @param patience how waits go
   * @param name for messages
   * @param bytes what each moves
   * @param window most in flight
   */
  Flow(Comm comm, Patience patience, String name, long bytes, int window) {
    this.comm = comm;
    this.patience = patience;
    this.name = name;
    this.bytes = bytes;
    this.requests = new long[window];
  }

  /** Posts one: a request id, or {@link Result#TRY_AGAIN}. */
  abstract long post(int index);

  /** Begins so many of them. */
  void begin(int howMany) {
    count = howMany;
    posted = 0;
    done = 0;
  }

  boolean isDone() {
    return done == count;
  }

  /** How many did not move as many bytes as they should, since it was made. */
  long wrongLengths() {
    return wrongLengths;
  }

  /** Posts what it may and takes what is done. Whether there was any. */
  boolean step() {
    boolean worked = postAhead();
    return take() || worked;
  }

  /** Posts what it may. Whether there was any. */
  boolean postAhead() {
    boolean worked = false;
    while (posted < count && posted - done < requests.length) {
      long request = post(posted);
      if (request == Result.TRY_AGAIN) {
        break;
      }
      requests[posted % requests.length] = request;
      posted++;
      worked = true;
    }
    return worked;
  }

  private boolean take() {
    if (done == posted) {
      if (done < count) {
        comm.progress();
      }
      return false;
    }
    long request = requests[done % requests.length];
    long result = request == Result.NOTHING_TO_DO ? bytes : comm.test(request);
    if (result == Result.IN_PROGRESS) {
      return false;
    }
    if (result < 0) {
      throw patience.failed(comm, request, result, name + " number " + done);
    }
    if (result != bytes) {
      wrongLengths++;
    }
    done++;
    return true;
  }

  /** Waits until that one is done. */
  void finish(int index) {
    patience.progressed();
    while (done <= index) {
      if (!step()) {
        patience.idle(name);
      }
    }
  }

  /** Runs to the end. */
  void run(int howMany) {
    begin(howMany);
    patience.progressed();
    while (!isDone()) {
      if (step()) {
        patience.progressed();
      } else {
        patience.idle(name);
      }
    }
  }

  /** Runs both to the end at once. */
  static void runBoth(Flow one, Flow other, int howMany) {
    one.begin(howMany);
    other.begin(howMany);
    one.patience.progressed();
    while (!one.isDone() || !other.isDone()) {
      boolean worked = one.step();
      worked |= other.step();
      if (worked) {
        one.patience.progressed();
      } else {
        one.patience.idle(one.name);
      }
    }
  }
}

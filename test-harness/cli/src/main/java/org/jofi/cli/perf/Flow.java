package org.jofi.cli.perf;

import org.jofi.cli.ranks.BoundedWait;
import org.jofi.transport.Comm;
import org.jofi.transport.Result;

/**
 * A sequence of operations of one kind, with a window of them in flight. For one thread; after its
 * construction it allocates nothing.
 */
abstract class Flow {
  private final Comm comm;
  private final BoundedWait patience;
  private final String name;
  private final long bytes;
  private final long[] requests;
  private int count;
  private int posted;
  private int done;
  private long wrongLengths;

  /**
   * @param comm the communicator for the requests
   * @param patience how to wait
   * @param name the operation's name in error messages
   * @param bytes how many bytes each operation transfers
   * @param window largest number of operations in flight
   */
  Flow(Comm comm, BoundedWait patience, String name, long bytes, int window) {
    this.comm = comm;
    this.patience = patience;
    this.name = name;
    this.bytes = bytes;
    this.requests = new long[window];
  }

  /** Posts one operation; returns a request id or {@link Result#TRY_AGAIN}. */
  abstract long post(int index);

  /** Begins a sequence of this many operations. */
  void begin(int howMany) {
    count = howMany;
    posted = 0;
    done = 0;
  }

  boolean isDone() {
    return done == count;
  }

  /** How many operations so far transferred a wrong number of bytes. */
  long wrongLengths() {
    return wrongLengths;
  }

  /** Posts what it may and takes what is done. Returns whether there was anything. */
  boolean step() {
    boolean worked = postAhead();
    return take() || worked;
  }

  /** Posts what it may. Returns whether there was anything. */
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

  /** Waits until this operation is done. */
  void finish(int index) {
    patience.progressed();
    while (done <= index) {
      if (!step()) {
        patience.idle(name);
      }
    }
  }

  /** Runs a whole sequence. */
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

  /** Runs two sequences at the same time. */
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

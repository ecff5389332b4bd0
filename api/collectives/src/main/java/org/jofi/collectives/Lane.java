package org.jofi.collectives;

import org.jofi.transport.Comm;
import org.jofi.transport.FailureCause;
import org.jofi.transport.Result;
import org.jofi.transport.TransportException;

/**
 * The messages of a program to one rank, or from it, in their order: several are in flight. For one
 * thread; allocates nothing while it runs.
 */
abstract class Lane {
  final Program program;
  private final Comm comm;
  private final int[] steps;
  private final String doing;
  private final long[] requests;
  private int posted;
  private int over;

  /**
   * @param comm where they go or come from
   * @param program whose messages they are
   * @param steps the steps of the program that are these messages, in order
   * @param window how many may be in flight
   * @param doing what it does, for messages
   */
  Lane(Comm comm, Program program, int[] steps, int window, String doing) {
    this.comm = comm;
    this.doing = doing;
    this.program = program;
    this.steps = steps;
    requests = new long[Math.min(window, steps.length)];
  }

  /** Begins again. */
  final void reset() {
    posted = 0;
    over = 0;
  }

  /** Posts what may be posted and takes the oldest if it is over; whether anything happened. */
  final boolean advance() {
    boolean worked = false;
    while (posted < steps.length
        && posted - over < requests.length
        && program.isReady(steps[posted])) {
      long request = post(steps[posted]);
      if (request == Result.TRY_AGAIN) {
        break;
      }
      requests[posted % requests.length] = request;
      posted++;
      worked = true;
    }
    if (over < posted) {
      long request = requests[over % requests.length];
      long result = comm.test(request);
      if (result != Result.IN_PROGRESS) {
        taken(steps[over], request, result);
        over++;
        worked = true;
      }
    } else if (over < steps.length) {
      comm.progress();
    }
    return worked;
  }

  abstract long post(int step);

  /** What it does, for messages. */
  final String doing() {
    return doing;
  }

  private void taken(int step, long request, long result) {
    if (result < 0) {
      Result.check(comm, request, result);
    }
    if (result != program.bytes(step)) {
      throw new TransportException(
          FailureCause.PROTOCOL_VIOLATION,
          "%s: message of %d bytes, %d expected".formatted(doing, result, program.bytes(step)));
    }
    program.over(step);
  }
}

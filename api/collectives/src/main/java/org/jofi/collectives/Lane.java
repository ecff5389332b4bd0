package org.jofi.collectives;

import org.jofi.collectives.schedule.Place;
import org.jofi.transport.Comm;
import org.jofi.transport.FailureCause;
import org.jofi.transport.Registration;
import org.jofi.transport.Result;
import org.jofi.transport.TransportException;
import org.jofi.transport.Use;
import org.jspecify.annotations.Nullable;

/**
 * The messages of a program to one rank, or from it, in their order: several are in flight. For one
 * thread; allocates nothing while it runs.
 */
abstract class Lane {
  final Program program;
  private final Comm comm;
  private final int[] steps;
  private final String doing;
  private final int window;

  /** Of those in flight, by the lower bits of their number. */
  private final long[] requests;

  private final Leases leases;
  private int posted;
  private int over;

  /** Whether the oldest one arrived, and it only is not known whether a GPU sees it. */
  private boolean isThere;

  /**
   * @param comm where they go or come from
   * @param use what memory is registered for
   * @param program whose messages they are
   * @param steps the steps of the program that are these messages, in order
   * @param window how many may be in flight
   * @param doing what it does, for messages
   */
  Lane(Comm comm, Use use, Program program, int[] steps, int window, String doing) {
    this.comm = comm;
    this.doing = doing;
    this.program = program;
    this.steps = steps;
    this.window = window;
    // A power of two: a division for each poll is felt where messages take less than 1 us.
    requests = new long[Integer.highestOneBit(2 * Math.min(window, steps.length) - 1)];
    leases = new Leases(comm, use);
  }

  /** Registers the GPU's memory that it uses. */
  final void take() {
    for (int step : steps) {
      Place place = place(step);
      leases.take(place, program.operand(place));
    }
  }

  /** Gives the registrations back. */
  final void release() {
    leases.end();
  }

  /** Begins again. */
  final void reset() {
    posted = 0;
    over = 0;
    isThere = false;
  }

  /** Posts what may be posted; whether that was anything. */
  final boolean postReady() {
    boolean worked = false;
    while (posted < steps.length && posted - over < window && program.isReady(steps[posted])) {
      long request = post(steps[posted]);
      if (request == Result.TRY_AGAIN) {
        break;
      }
      requests[posted & requests.length - 1] = request;
      posted++;
      worked = true;
    }
    return worked;
  }

  /** Takes the oldest if it is over; whether it was. It makes progress. */
  final boolean takeOldest() {
    boolean worked = false;
    if (over < posted) {
      if (isOver(steps[over], requests[over & requests.length - 1])) {
        program.over(steps[over]);
        over++;
        isThere = false;
        worked = true;
      }
    } else if (over < steps.length) {
      comm.progress();
    }
    return worked;
  }

  private boolean isOver(int step, long request) {
    if (!isThere) {
      long result = comm.test(request);
      if (result == Result.IN_PROGRESS) {
        return false;
      }
      check(step, request, result);
      isThere = true;
    }
    return isSeen(step);
  }

  /** The memory of a message. */
  abstract Place place(int step);

  abstract long post(int step);

  /** Whether a GPU sees a message that arrived; it makes progress. */
  boolean isSeen(int step) {
    return true;
  }

  /** The GPU's memory of a message; null if it is the host's. */
  final @Nullable Registration lease(int step) {
    return leases.of(place(step));
  }

  /** What it does, for messages. */
  final String doing() {
    return doing;
  }

  private void check(int step, long request, long result) {
    if (result < 0) {
      Result.check(comm, request, result);
    }
    if (result != program.bytes(step)) {
      throw new TransportException(
          FailureCause.PROTOCOL_VIOLATION,
          "%s: message of %d bytes, %d expected".formatted(doing, result, program.bytes(step)));
    }
  }
}

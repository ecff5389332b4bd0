package org.jofi.collectives;

import org.jofi.collectives.schedule.Place;
import org.jofi.transport.RecvComm;
import org.jofi.transport.Registration;
import org.jofi.transport.Result;
import org.jofi.transport.Use;

/** What a program receives from a rank. */
final class Incoming extends Lane {
  private final RecvComm comm;

  /** That of the oldest message, if it is under way. */
  private long flush = Result.TRY_AGAIN;

  Incoming(RecvComm comm, Program program, int[] steps, int window, String peer) {
    super(comm, Use.RECEIVE, program, steps, window, "receiving from " + peer);
    this.comm = comm;
  }

  @Override
  Place place(int step) {
    return program.intoPlace(step);
  }

  @Override
  long post(int step) {
    Registration lease = lease(step);
    long offset = program.intoOffset(step);
    return lease == null
        ? comm.irecv(
            program.operand(place(step)).segment(), offset, program.bytes(step), program.tag(step))
        : comm.irecv(lease, offset, program.bytes(step), program.tag(step));
  }

  @Override
  boolean isSeen(int step) {
    Registration lease = lease(step);
    if (lease == null) {
      return true;
    }
    if (flush == Result.TRY_AGAIN) {
      flush = comm.iflush(lease, program.intoOffset(step), program.bytes(step));
    }
    if (flush == Result.TRY_AGAIN) {
      return false;
    }
    if (flush != Result.NOTHING_TO_DO) {
      long result = comm.test(flush);
      if (result == Result.IN_PROGRESS) {
        return false;
      }
      if (result < 0) {
        Result.check(comm, flush, result);
      }
    }
    flush = Result.TRY_AGAIN;
    return true;
  }
}

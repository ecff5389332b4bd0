package org.jofi.collectives;

import org.jofi.collectives.schedule.Place;
import org.jofi.transport.Registration;
import org.jofi.transport.SendComm;
import org.jofi.transport.Use;

/** What a program sends to a rank. */
final class Outgoing extends Lane {
  private final SendComm comm;

  Outgoing(SendComm comm, Program program, int[] steps, int window, String peer) {
    super(comm, Use.SEND, program, steps, window, "sending to " + peer);
    this.comm = comm;
  }

  @Override
  Place place(int step) {
    return program.firstPlace(step);
  }

  @Override
  long post(int step) {
    Registration lease = lease(step);
    long offset = program.firstOffset(step);
    return lease == null
        ? comm.isend(
            program.operand(place(step)).segment(), offset, program.bytes(step), program.tag(step))
        : comm.isend(lease, offset, program.bytes(step), program.tag(step));
  }
}

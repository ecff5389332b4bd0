package org.jofi.collectives;

import org.jofi.transport.SendComm;

/** What a program sends to a rank. */
final class Outgoing extends Lane {
  private final SendComm comm;

  Outgoing(SendComm comm, Program program, int[] steps, int window, String peer) {
    super(comm, program, steps, window, "sending to " + peer);
    this.comm = comm;
  }

  @Override
  long post(int step) {
    return comm.isend(
        program.first(step), program.firstOffset(step), program.bytes(step), program.tag());
  }
}

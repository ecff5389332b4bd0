package org.jofi.collectives;

import org.jofi.transport.SendComm;

/** What a program sends to a rank. */
final class Outgoing extends Lane {
  private final SendComm comm;
  private final Program program;
  private final String peer;

  Outgoing(SendComm comm, Program program, int[] steps, int window, String peer) {
    super(comm, program, steps, window);
    this.comm = comm;
    this.program = program;
    this.peer = peer;
  }

  @Override
  long post(int step) {
    return comm.isend(
        program.first(step), program.firstOffset(step), program.bytes(step), program.tag());
  }

  @Override
  String doing() {
    return "sending to " + peer;
  }
}

package org.jofi.collectives;

import org.jofi.transport.RecvComm;

/** What a program receives from a rank. */
final class Incoming extends Lane {
  private final RecvComm comm;
  private final Program program;
  private final String peer;

  Incoming(RecvComm comm, Program program, int[] steps, int window, String peer) {
    super(comm, program, steps, window);
    this.comm = comm;
    this.program = program;
    this.peer = peer;
  }

  @Override
  long post(int step) {
    return comm.irecv(
        program.into(step), program.intoOffset(step), program.bytes(step), program.tag());
  }

  @Override
  String doing() {
    return "receiving from " + peer;
  }
}

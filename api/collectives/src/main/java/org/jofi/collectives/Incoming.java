package org.jofi.collectives;

import org.jofi.transport.RecvComm;

/** What a program receives from a rank. */
final class Incoming extends Lane {
  private final RecvComm comm;

  Incoming(RecvComm comm, Program program, int[] steps, int window, String peer) {
    super(comm, program, steps, window, "receiving from " + peer);
    this.comm = comm;
  }

  @Override
  long post(int step) {
    return comm.irecv(
        program.into(step), program.intoOffset(step), program.bytes(step), program.tag());
  }
}

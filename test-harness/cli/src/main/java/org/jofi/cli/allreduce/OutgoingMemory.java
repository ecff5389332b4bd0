package org.jofi.cli.allreduce;

import org.jofi.transport.Memory;
import org.jofi.transport.SendComm;
import org.jofi.transport.Use;

/** Memory as it is sent over a communicator. */
final class OutgoingMemory extends UsedMemory<SendComm> {

  OutgoingMemory(SendComm comm, Memory memory) {
    super(comm, memory, Use.SEND);
  }

  /** As {@link SendComm#isend}. */
  long isend(long offset, long bytes, int tag) {
    return registration == null
        ? comm.isend(segment, offset, bytes, tag)
        : comm.isend(registration, offset, bytes, tag);
  }
}

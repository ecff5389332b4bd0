package org.jofi.cli.allreduce;

import org.jofi.transport.Memory;
import org.jofi.transport.RecvComm;
import org.jofi.transport.Result;
import org.jofi.transport.Use;

/** Memory as it is received over a communicator. */
final class IncomingMemory extends UsedMemory<RecvComm> {

  IncomingMemory(RecvComm comm, Memory memory) {
    super(comm, memory, Use.RECEIVE);
  }

  /** As {@link RecvComm#irecv}. */
  long irecv(long offset, long bytes, int tag) {
    return registration == null
        ? comm.irecv(segment, offset, bytes, tag)
        : comm.irecv(registration, offset, bytes, tag);
  }

  /** As {@link RecvComm#iflush}; host memory needs none. */
  long iflush(long offset, long bytes) {
    return registration == null ? Result.NOTHING_TO_DO : comm.iflush(registration, offset, bytes);
  }
}

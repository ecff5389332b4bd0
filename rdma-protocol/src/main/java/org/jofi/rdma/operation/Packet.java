package org.jofi.rdma.operation;

import java.lang.foreign.MemorySegment;

/** A buffer for a message to the peer, to be filled in and sent. */
public interface Packet {

  /** Where to write the message. */
  MemorySegment memory();

  /** Where in the memory it starts. */
  long at();
}

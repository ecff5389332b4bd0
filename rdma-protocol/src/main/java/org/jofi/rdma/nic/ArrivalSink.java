package org.jofi.rdma.nic;

import java.lang.foreign.MemorySegment;
import org.jofi.transport.Failure;

/** Takes arrivals at an endpoint that do not belong to a local operation. Must not throw. */
public interface ArrivalSink {

  /**
   * Immediate data arrived. Called while a queue delivers: must not post.
   *
   * @param data as the queue reported it, unchecked
   */
  void immediate(long data);

  /**
   * A message arrived; it is valid during the call. Called after queues delivered: may post.
   *
   * @param lengthBytes how much arrived, unchecked
   */
  void message(MemorySegment memory, long lengthBytes);

  /** A rail's completion queue broke: arrivals over it are not reported any more. May post. */
  void broken(Failure why);

  /** A data rail was closed, with what its queue held. May post. */
  default void railClosed() {}
}

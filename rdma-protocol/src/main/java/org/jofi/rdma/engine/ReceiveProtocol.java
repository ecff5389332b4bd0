package org.jofi.rdma.engine;

import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.staging.StagingSpace;

/** How an acceptor's end receives. Used with the endpoint's lock held. */
public interface ReceiveProtocol extends MessageProtocol {

  /** As {@link org.jofi.transport.RecvComm#irecv}; it begins a use of each registration. */
  long receive(
      int count, long[] addresses, long[] lengths, int[] tags, DataRegistration[] registrations);

  /** Receives into device memory that no NIC reaches, through host blocks. */
  long receiveStaged(StagingSpace space, long address, long lengthBytes, int tag);

  /**
   * How a request fares, and each length of a group that is done.
   *
   * @param lengths takes them
   * @throws IllegalArgumentException if it is shorter than the group, which did not fail
   */
  long test(long request, long[] lengths);

  /**
   * Each length of a receive that succeeded and was reported, until its slot is used again.
   *
   * @return how many there are; 0 if it is no such receive
   * @throws IllegalArgumentException if the array is shorter than the group
   */
  int lengths(long request, long[] lengths);
}

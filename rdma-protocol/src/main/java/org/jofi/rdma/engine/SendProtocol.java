package org.jofi.rdma.engine;

import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.staging.StagingSpace;

/** How a connector's end sends. Used with the endpoint's lock held. */
public interface SendProtocol extends MessageProtocol {

  /**
   * Sends; as {@link org.jofi.transport.SendComm#isend}.
   *
   * @param registration covers the range; the caller has begun a use of it, which ends with the
   *     request: the caller has it still only if there is none, {@link
   *     org.jofi.transport.Result#TRY_AGAIN}
   */
  long send(long address, long lengthBytes, int tag, DataRegistration registration);

  /**
   * Sends device memory that no NIC reaches, through host blocks.
   *
   * @param space blocks for that memory, registered with this endpoint
   */
  long sendStaged(StagingSpace space, long address, long lengthBytes, int tag);

  /**
   * Takes back a send that no receive was found for yet; as {@link
   * org.jofi.transport.SendComm#cancel}.
   */
  boolean cancel(long request);
}

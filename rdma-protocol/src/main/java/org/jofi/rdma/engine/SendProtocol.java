package org.jofi.rdma.engine;

import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.staging.StagingSpace;
import org.jspecify.annotations.Nullable;

/** How a connector's end sends. Used with the endpoint's lock held. */
public interface SendProtocol extends MessageProtocol {

  /**
   * Sends; as {@link org.jofi.transport.SendComm#isend}.
   *
   * @param registration covers the range; the request begins a use of it if it needs that after
   *     this call. Null if it is device memory that no NIC reaches
   * @param space host blocks that such memory is sent through, registered with this endpoint; else
   *     null
   */
  long send(
      long address,
      long lengthBytes,
      int tag,
      @Nullable DataRegistration registration,
      @Nullable StagingSpace space);

  /** Takes back a send that no receive was found for yet. */
  boolean cancel(long request);
}

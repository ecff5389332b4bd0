package org.jofi.rdma.operation;

import org.jofi.transport.Failure;

/**
 * Who is told what the stripes of a transfer come to, each once. Called while a queue delivers, or
 * by the submission itself, so it must neither submit nor throw; what follows is deferred.
 */
public interface TransferListener {

  void completed(Transfer transfer, int stripe);

  /**
   * A stripe failed.
   *
   * @param railLeft whether it could be posted again, over another rail if there is one
   * @return whether it is to be posted again; only if it can be
   */
  boolean failed(Transfer transfer, int stripe, Failure why, Certainty certainty, boolean railLeft);

  /**
   * The completion queue of its rail broke, so that its outcome will never be known. Until the
   * endpoint is closed it may still happen, and use its memory.
   */
  void lost(Transfer transfer, int stripe, Failure why);

  /** The immediate data that a stripe brings. */
  default int immediate(Transfer transfer, int stripe) {
    throw new UnsupportedOperationException("it brings none");
  }
}

package org.jofi.rdma.driver;

import org.jofi.fabric.CompletionError;
import org.jofi.transport.Failure;

/**
 * The poster of an operation, which gets its outcome once. It is called while a queue delivers, so
 * it must neither post nor throw.
 */
public interface OperationOwner {

  /**
   * The operation finished.
   *
   * @param cookie what it was posted with
   * @param lengthBytes bytes received, for receives
   */
  void completed(long cookie, long lengthBytes);

  /**
   * The operation failed.
   *
   * @param cookie what it was posted with
   * @param error valid during the call only
   */
  void failed(long cookie, RailPort port, CompletionError error);

  /**
   * The completion queue broke, so the outcome of the operation will never be known. Until the
   * endpoint is closed, the operation may still happen and use its memory.
   *
   * @param cookie what it was posted with
   */
  void lost(long cookie, RailPort port, Failure why);
}

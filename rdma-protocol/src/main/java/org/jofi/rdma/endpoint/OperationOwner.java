package org.jofi.rdma.endpoint;

import org.jofi.fabric.CompletionError;
import org.jofi.transport.Failure;

/**
 * Who posted an operation, and is told how it went, once. Called while a queue delivers: it must
 * neither post nor throw.
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
   * The completion queue broke: nobody will learn how the operation goes. It may still happen, and
   * its memory may still be used, until the endpoint is closed.
   *
   * @param cookie what it was posted with
   */
  void lost(long cookie, RailPort port, Failure why);
}

package org.jofi.rdma.nic;

import org.jofi.transport.Failure;

/**
 * The poster of an operation, which gets its outcome once, with the cookie that it was posted with.
 * It is called while a queue delivers, so it must neither post nor throw.
 */
public interface OperationOwner {

  /** The operation finished, with so many bytes received. */
  void completed(long cookie, long lengthBytes);

  /**
   * The operation failed. If its rail's endpoint {@linkplain RailPort#isClosed is closed}, it uses
   * no memory of this side any more; some or all of it may have happened at the peer, or may happen
   * yet.
   */
  void failed(long cookie, RailPort port, Failure why);

  /**
   * The completion queue broke, so the outcome of the operation will never be known. Until the
   * endpoint is closed, the operation may still happen and use its memory.
   */
  void lost(long cookie, RailPort port, Failure why);

  /**
   * The operation is out on a rail that is silent, to one of the peers. It may be posted again over
   * another one, if it does no harm when both happen; the first may use its memory for long yet.
   *
   * @return who is told what becomes of the first
   */
  default OperationOwner moveOff(long cookie, RailUser silent, Failure why) {
    return this;
  }

  OperationOwner NOBODY =
      new OperationOwner() {
        @Override
        public void completed(long cookie, long lengthBytes) {}

        @Override
        public void failed(long cookie, RailPort port, Failure why) {}

        @Override
        public void lost(long cookie, RailPort port, Failure why) {}
      };
}

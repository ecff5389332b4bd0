package org.jofi.rdma.onesided;

import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.operation.Certainty;
import org.jofi.rdma.operation.OperationSink;
import org.jofi.rdma.operation.Transfer;
import org.jofi.rdma.request.Request;
import org.jofi.rdma.request.StripedRequest;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;

/** A read of a few bytes over each data rail, from this very endpoint. */
final class FlushRead extends StripedRequest {
  private final OperationSink sink;

  FlushRead(Flushes flushes, Request request) {
    super(request, flushes.link.sink);
    sink = flushes.link.sink;
  }

  void of(long from, long length, DataRegistration memory) {
    lease = memory;
    lengthBytes = length;
    transfer.begin(Transfer.Kind.READ_OWN, 0, null);
    transfer.failAlone();
    for (int rail = 0; rail < sink.endpoint().dataRails(); rail++) {
      transfer.remote(rail, memory.remoteAddress(rail, from), memory.key(rail));
      transfer.place(rail, 0, Math.min(length, OperationSink.OWN_READ_BYTES));
    }
  }

  @Override
  public boolean failed(
      Transfer of, int stripe, Failure why, Certainty certainty, boolean railLeft) {
    return super.failed(of, stripe, interpret(why), certainty, railLeft);
  }

  /** The peer has no part in it: whatever the errno, it is not the peer that is lost. */
  private static Failure interpret(Failure fabric) {
    return new Failure(
        fabric.cause() == FailureCause.UNAVAILABLE ? FailureCause.UNAVAILABLE : FailureCause.FABRIC,
        fabric.errno(),
        "flush, by %s of its own memory".formatted(fabric.where()),
        fabric.detail());
  }

  @Override
  public String where() {
    return "iflush of %d bytes by %s".formatted(lengthBytes, sink.endpoint().label());
  }
}

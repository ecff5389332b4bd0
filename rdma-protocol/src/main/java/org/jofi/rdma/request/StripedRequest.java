package org.jofi.rdma.request;

import org.jofi.rdma.operation.Certainty;
import org.jofi.rdma.operation.OperationSink;
import org.jofi.rdma.operation.Transfer;
import org.jofi.transport.Failure;

/**
 * A request that is a transfer over the data rails, whose record says how it fares. It is complete
 * when all stripes are done.
 */
public abstract class StripedRequest extends RequestStrategy {
  public final Transfer transfer;
  protected long lengthBytes;

  public StripedRequest(Request request, OperationSink sink) {
    super(request);
    transfer = sink.overData(this);
  }

  /** What failed and is over is repeated, as long as nobody was told of it. */
  @Override
  public boolean failed(
      Transfer of, int stripe, Failure why, Certainty certainty, boolean railLeft) {
    return (isLive() && railLeft && certainty != Certainty.UNKNOWN)
        || super.failed(of, stripe, why, certainty, railLeft);
  }

  @Override
  public boolean isOut() {
    return transfer.isOut();
  }

  @Override
  public boolean isComplete() {
    return transfer.isDone();
  }

  @Override
  public boolean endsByItself() {
    return transfer.endsByItself();
  }

  @Override
  public final boolean isTimed() {
    return true;
  }

  @Override
  public long progress() {
    return transfer.progress();
  }

  @Override
  public void cut() {
    transfer.cancel();
  }

  @Override
  public final long movedBytes() {
    return lengthBytes;
  }

  @Override
  public String missing() {
    return transfer.missing();
  }
}

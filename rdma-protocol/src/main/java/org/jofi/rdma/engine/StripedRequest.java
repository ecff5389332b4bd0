package org.jofi.rdma.engine;

import org.jofi.rdma.operation.OperationSink;
import org.jofi.rdma.operation.Transfer;

/**
 * A request that is a transfer over the data rails, whose record says how it fares. It is complete
 * when all stripes are done.
 */
abstract class StripedRequest extends RequestStrategy {
  private final Transfer transfer;

  StripedRequest(Request request, OperationSink sink) {
    super(request);
    transfer = sink.overData(this);
  }

  /** Its stripes. */
  final Transfer transfer() {
    return transfer;
  }

  @Override
  boolean isOut() {
    return transfer.isOut();
  }

  @Override
  boolean isComplete() {
    return transfer.isDone();
  }

  @Override
  boolean endsByItself() {
    return transfer.endsByItself();
  }

  @Override
  final boolean isTimed() {
    return true;
  }

  @Override
  long progress() {
    return transfer.progress();
  }

  @Override
  void cut() {
    transfer.cancel();
  }

  @Override
  String missing() {
    return transfer.missing();
  }
}

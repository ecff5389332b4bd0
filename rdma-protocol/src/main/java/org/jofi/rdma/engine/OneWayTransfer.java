package org.jofi.rdma.engine;

import java.util.StringJoiner;
import org.jofi.rdma.operation.OperationSink;
import org.jofi.rdma.operation.Transfer;

/**
 * A request that is one transfer, in which the peer's software has no part. It is complete when all
 * stripes are back.
 */
abstract class OneWayTransfer extends RequestStrategy {
  private final Transfer transfer;

  OneWayTransfer(Request request, OperationSink sink) {
    super(request);
    transfer = sink.overData(this);
  }

  /** The transfer, which is filled in before it is started. */
  final Transfer transfer() {
    return transfer;
  }

  final void start() {
    request().begin(this);
    add(transfer, transfer.all());
  }

  @Override
  final boolean isComplete() {
    return transfer.isBound();
  }

  @Override
  public final void bound(Transfer of, int stripe) {
    request().begun(1);
  }

  @Override
  final long progress() {
    return transfer.progress();
  }

  @Override
  final boolean endsByItself() {
    return transfer.toPost() == 0 && transfer.isBound();
  }

  @Override
  final boolean isTimed() {
    return true;
  }

  @Override
  final void cut() {
    drop(transfer);
  }

  @Override
  final String missing() {
    StringJoiner text = new StringJoiner("; ");
    for (int stripe = 0; stripe < transfer.stripes(); stripe++) {
      if (transfer.isUnderWay(stripe)) {
        text.add(
            "stripe %d of %d on %s %s"
                .formatted(
                    stripe,
                    transfer.stripes(),
                    transfer.railLabel(stripe),
                    transfer.isToBePosted(stripe)
                        ? "not taken by the provider"
                        : "posted, not completed"));
      }
    }
    return text.toString();
  }
}

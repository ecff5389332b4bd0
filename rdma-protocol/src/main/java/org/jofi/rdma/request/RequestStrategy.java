package org.jofi.rdma.request;

import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.operation.Certainty;
import org.jofi.rdma.operation.Transfer;
import org.jofi.rdma.operation.TransferListener;
import org.jofi.transport.Failure;
import org.jspecify.annotations.Nullable;

/**
 * A way in which a {@link Request} runs: what it asks the driver for, and what it makes of what
 * comes back. There is one per slot and kind, which is used again. It is asked only while its
 * request runs.
 */
public abstract class RequestStrategy implements TransferListener {
  public final Request request;

  /** The memory that it has a lease of, which it ends; null if there is none. */
  public @Nullable DataRegistration lease;

  public RequestStrategy(Request request) {
    this.request = request;
  }

  /** Whether stripes are to be posted, or with a provider. */
  public boolean isOut() {
    return false;
  }

  /** Whether all that was asked for happened, once no operation is under way. */
  public abstract boolean isComplete();

  /** Whether the time of its bound runs. */
  public abstract boolean isTimed();

  /** Whether it comes to its end, good or bad, though nothing of it is posted any more. */
  public abstract boolean endsByItself();

  /** Whether its memory is within the peer's reach, so that its lease must not end. */
  public boolean isExposed() {
    return false;
  }

  /** Whether its own operations use the leased memory, rather than this side's own. */
  public boolean operatesOnLease() {
    return true;
  }

  public abstract long movedBytes();

  /** Of the way in which it began. */
  public int tag() {
    return 0;
  }

  /** Of the way in which it began: how much it is to move. */
  public long postedBytes() {
    return movedBytes();
  }

  /** Changes whenever what it waits for comes nearer; not without end while it is stuck. */
  public long progress() {
    return 0;
  }

  /** It was looked at, and its bound did not pass. */
  public void checked() {}

  public void endUse() {
    DataRegistration memory = lease;
    if (memory != null) {
      lease = null;
      memory.endUse();
    }
  }

  public abstract String where();

  /** What it waits for, for errors. */
  public abstract String missing();

  /** It failed, just now: what was not posted yet is not to be. */
  public abstract void cut();

  public final boolean isLive() {
    return request.isLive(this);
  }

  public final void fail(Failure why) {
    request.fail(why);
  }

  @Override
  public void completed(Transfer transfer, int stripe) {
    request.settle();
  }

  @Override
  public boolean failed(
      Transfer transfer, int stripe, Failure why, Certainty certainty, boolean railLeft) {
    request.fail(why);
    return false;
  }

  @Override
  public final void lost(Transfer transfer, int stripe, Failure why) {
    // It never comes back, and may happen yet, so that nothing can be posted in its place.
    request.expire(why);
  }
}

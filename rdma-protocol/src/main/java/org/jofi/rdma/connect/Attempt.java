package org.jofi.rdma.connect;

import org.jofi.rdma.endpoint.SentListener;
import org.jofi.rdma.wire.ConnectRequest;
import org.jofi.transport.ConnectHandle;
import org.jofi.transport.Failure;
import org.jspecify.annotations.Nullable;

/** A connection being made: ends with a side, or with a failure, within its bound. */
public final class Attempt implements SentListener {
  private final ConnectHandle handle;
  private final ConnectRequest request;
  private final Mailbox mailbox;
  private final long deadline;
  private boolean sent;
  private @Nullable SendSide side;
  private @Nullable Failure failure;

  Attempt(ConnectHandle handle, ConnectRequest request, Mailbox mailbox, long deadline) {
    this.handle = handle;
    this.request = request;
    this.mailbox = mailbox;
    this.deadline = deadline;
  }

  /** Whom to. */
  public ConnectHandle handle() {
    return handle;
  }

  /** The side that stands, which is the caller's to close; null as long as it does not. */
  public @Nullable SendSide side() {
    return side;
  }

  /** Why it failed; null if it did not. */
  public @Nullable Failure failure() {
    return failure;
  }

  ConnectRequest request() {
    return request;
  }

  Mailbox mailbox() {
    return mailbox;
  }

  boolean isSent() {
    return sent;
  }

  void markSent() {
    sent = true;
  }

  boolean isOverdue(long now) {
    return now - deadline >= 0;
  }

  void stands(SendSide made) {
    side = made;
  }

  void fail(Failure why) {
    if (failure == null && side == null) {
      failure = why;
    }
  }

  @Override
  public void sent(long cookie, @Nullable Failure why) {
    if (why != null) {
      fail(why);
    }
  }
}

package org.jofi.rdma.connect;

import org.jofi.rdma.engine.SendConnection;
import org.jofi.rdma.operation.SentListener;
import org.jofi.rdma.wire.ConnectRequest;
import org.jofi.transport.ConnectHandle;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.jspecify.annotations.Nullable;

/**
 * A connection that is being made. Within its time limit it ends with a connected {@link
 * SendConnection} or with a failure.
 */
public final class Attempt implements SentListener {
  private final ConnectHandle handle;
  private final ConnectRequest request;
  private final Mailbox mailbox;
  private final long deadline;
  private boolean onItsWay;
  private boolean asked;
  private long nextAsk;
  private @Nullable Failure trouble;
  private @Nullable SendConnection connection;
  private @Nullable Failure failure;

  Attempt(ConnectHandle handle, ConnectRequest request, Mailbox mailbox, long deadline) {
    this.handle = handle;
    this.request = request;
    this.mailbox = mailbox;
    this.deadline = deadline;
  }

  @Override
  public boolean isWanted(long cookie) {
    return connection == null && failure == null;
  }

  /** The handle of the listener. */
  public ConnectHandle handle() {
    return handle;
  }

  /** The connected side, which the caller closes; null as long as it is not connected. */
  public @Nullable SendConnection connection() {
    return connection;
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

  /** Whether to send the request, for the first time or again. */
  boolean isDue(long now) {
    return !onItsWay && (!asked || now - nextAsk >= 0);
  }

  void asks(long next) {
    onItsWay = true;
    asked = true;
    nextAsk = next;
  }

  /** What went wrong on the way, for errors. */
  String trouble() {
    return trouble == null ? "" : "; last, " + trouble;
  }

  boolean isOverdue(long now) {
    return now - deadline >= 0;
  }

  void stands(SendConnection made) {
    connection = made;
  }

  void fail(Failure why) {
    if (failure == null && connection == null) {
      failure = why;
    }
  }

  @Override
  public void sent(long cookie, @Nullable Failure why) {
    onItsWay = false;
    trouble = why == null ? trouble : why;
    if (why != null && why.cause() == FailureCause.PEER_LOST) {
      fail(why);
    }
  }
}

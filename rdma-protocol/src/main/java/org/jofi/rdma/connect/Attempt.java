package org.jofi.rdma.connect;

import org.jofi.rdma.nic.Failures;
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
  public final ConnectHandle handle;
  final ConnectRequest request;
  final Mailboxes.Mailbox mailbox;
  private final long deadline;
  final int rails;

  /** A bit for each rail over which the request is on its way. */
  private int onTheirWay;

  /**
   * A bit for each rail whose connection broke. The listener may have ended it in favour of another
   * one, so it is asked again.
   */
  private int broken;

  /** A bit for each rail over which the listener could not be reached. */
  private int unreachable;

  private int asked = -1;
  private boolean due = true;
  private long nextAsk;
  private @Nullable Failure trouble;
  private @Nullable SendConnection connection;
  private @Nullable Failure failure;

  Attempt(ConnectHandle handle, ConnectRequest request, Mailboxes.Mailbox mailbox, long deadline) {
    this.handle = handle;
    this.request = request;
    this.mailbox = mailbox;
    this.deadline = deadline;
    rails = Math.min(handle.rails(), request.rails().control().size());
  }

  @Override
  public boolean isWanted(long cookie) {
    return connection == null && failure == null;
  }

  /** The connected side, which the caller closes; null as long as it is not connected. */
  public @Nullable SendConnection connection() {
    return connection;
  }

  public @Nullable Failure failure() {
    return failure;
  }

  /**
   * The control rail to send the request over, for the first time or again; -1 for none now. Each
   * has its turn, since one may be silent.
   */
  int due(long now) {
    for (int i = 1; i <= rails && (due || now - nextAsk >= 0); i++) {
      int rail = (asked + i) % rails;
      if (((onTheirWay | unreachable) & 1 << rail) == 0) {
        return rail;
      }
    }
    return -1;
  }

  void asks(int rail, long next) {
    asked = rail;
    onTheirWay |= 1 << rail;
    due = false;
    nextAsk = next;
  }

  String trouble() {
    return trouble == null ? "" : "; last, " + trouble;
  }

  boolean isOverdue(long now) {
    return now - deadline >= 0;
  }

  void stands(SendConnection made) {
    connection = made;
  }

  void fail(FailureCause cause, String detail) {
    fail(new Failure(cause, 0, "connect to " + handle, detail));
  }

  private void fail(Failure why) {
    if (failure == null && connection == null) {
      failure = why;
    }
  }

  @Override
  public void sent(long cookie, @Nullable Failure why) {
    int bit = 1 << (int) cookie;
    onTheirWay &= ~bit;
    trouble = why == null ? trouble : why;
    if (why != null && why.cause() == FailureCause.PEER_LOST) {
      due = true;
      if (Failures.isOfBrokenConnection(why) && (broken & bit) == 0) {
        broken |= bit;
        return;
      }
      unreachable |= bit;
      if (unreachable == (1 << rails) - 1) {
        fail(why);
      }
    }
  }
}

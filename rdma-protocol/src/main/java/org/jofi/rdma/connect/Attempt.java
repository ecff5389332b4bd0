package org.jofi.rdma.connect;

import org.jofi.rdma.nic.Failures;
import org.jofi.rdma.operation.SentListener;
import org.jofi.rdma.wire.ConnectRedirect;
import org.jofi.rdma.wire.ConnectRequest;
import org.jofi.rdma.wire.FabricAddress;
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
  final long deadline;

  /** Whether a listener named the one that is asked now: this one may not name another. */
  final boolean redirected;

  /** Control rails over which it asks, and at which of the handle's addresses. */
  final CommonRails rails;

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
  // Any thread reads how it ended.
  private volatile @Nullable SendConnection connection;
  private volatile @Nullable Failure failure;
  volatile @Nullable ConnectRedirect redirect;

  Attempt(
      ConnectHandle handle,
      ConnectRequest request,
      Mailboxes.Mailbox mailbox,
      long deadline,
      boolean redirected,
      CommonRails rails) {
    this.handle = handle;
    this.request = request;
    this.mailbox = mailbox;
    this.deadline = deadline;
    this.redirected = redirected;
    this.rails = rails;
  }

  /** Whether it waits for an answer. */
  boolean isOpen() {
    return connection == null && failure == null && redirect == null;
  }

  /** Whether it stands, or failed. Any thread. */
  public boolean isOver() {
    return connection != null || failure != null;
  }

  /** Where the caller is to go on, or fail; null as long as nothing says so, or it failed. */
  public @Nullable ConnectRedirect redirect() {
    return failure == null ? redirect : null;
  }

  @Override
  public boolean isWanted(long cookie) {
    return isOpen();
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
    int count = rails.own().size();
    int last = rails.own().indexOf(asked);
    for (int i = 1; i <= count && (due || now - nextAsk >= 0); i++) {
      int rail = rails.own().get((last + i) % count);
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

  /** Where it is asked over a control rail. */
  FabricAddress to(int rail) {
    return FabricAddress.of(handle.address(rails.peer().get(rails.own().indexOf(rail))));
  }

  /** It fails, unless it is over. Once it is, by the caller, to whom it is handed over. */
  public void fail(FailureCause cause, String detail) {
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
      if (Integer.bitCount(unreachable) == rails.own().size()) {
        fail(why);
      }
    }
  }
}

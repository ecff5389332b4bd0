package org.jofi.rdma.engine;

/**
 * How far the closing of a connection is, on both sides.
 *
 * <pre>
 * OPEN -- close --&gt; quiet: CLOSE sent -- the peer's CLOSE or CLOSED, or the bound --&gt; released
 * OPEN -- failure, abort --&gt; ABORT sent, then as for a close
 * OPEN -- the peer's CLOSE or ABORT --&gt; quiet: CLOSED sent -- close --&gt; released
 * OPEN -- the peer is lost --&gt; quiet --&gt; released
 * </pre>
 */
public final class CloseHandshake {
  private static final long NONE = -1;

  private boolean localClosed;
  private boolean aborted;
  private boolean peerClosed;
  private boolean peerDone;
  private boolean peerReturned;
  private boolean told;
  private boolean released;

  /** How many of the peer's writes are to come before it is done; none if nothing is awaited. */
  private long awaited = NONE;

  private long deadline;
  private long toldAt;

  CloseHandshake() {}

  void close(long bound) {
    localClosed = true;
    deadline = bound;
  }

  void abort() {
    aborted = true;
  }

  void abandon() {
    localClosed = true;
  }

  void peerStopped(long bound) {
    if (!localClosed) {
      deadline = bound;
    }
    peerClosed = true;
  }

  void peerReturned() {
    peerReturned = true;
  }

  void await(long writes) {
    awaited = writes;
  }

  long awaited() {
    return awaited;
  }

  boolean isAwaiting() {
    return awaited != NONE;
  }

  void awaitNothing() {
    awaited = NONE;
  }

  void peerDone() {
    peerClosed = true;
    peerDone = true;
  }

  void release() {
    released = true;
  }

  boolean isReleased() {
    return released;
  }

  /** Whether the peer told that its operations are back. */
  boolean hasPeerReturned() {
    return peerReturned;
  }

  /** Whether this end was closed, or aborted. */
  public boolean isLocalClosed() {
    return localClosed;
  }

  /** Whether this end was aborted. */
  public boolean isAborted() {
    return aborted;
  }

  /** Whether the peer posts nothing more. */
  public boolean isPeerClosed() {
    return peerClosed;
  }

  /** Whether the peer's operations are back and have arrived, or it is not waited for any more. */
  public boolean isPeerDone() {
    return peerDone;
  }

  /** Whether the peer was told that this end's operations are back. */
  public boolean isTold() {
    return told;
  }

  /** The peer was told. */
  public void tell(long now) {
    told = true;
    toldAt = now;
  }

  /** Whether the peer was told so long ago; counts from now then. */
  public boolean isTellDue(long now, long everyNs) {
    boolean due = told && now - toldAt >= everyNs;
    if (due) {
      toldAt = now;
    }
    return due;
  }

  /** How long it is until its bound. */
  public long leftNs(long now) {
    return deadline - now;
  }

  /** Whether its bound passed. */
  public boolean isOverdue(long now) {
    return now - deadline >= 0;
  }
}

package org.jofi.rdma.connect;

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
final class CloseHandshake {
  static final long NONE = -1;

  /** Whether this end was closed, or aborted. */
  boolean localClosed;

  boolean aborted;
  boolean released;

  /** Whether the peer posts nothing more. */
  boolean peerClosed;

  /** Whether the peer's operations are back. */
  boolean peerReturned;

  /** How many of the peer's writes are to come before it is done. */
  long awaited = NONE;

  /** Whether the peer's operations have arrived, too, or it is not waited for any more. */
  boolean peerDone;

  /** Whether the peer was told that this end's operations are back. */
  boolean told;

  private long toldAt;
  private long deadline;

  void close(long bound) {
    localClosed = true;
    deadline = bound;
  }

  void peerStopped(long bound) {
    if (!localClosed) {
      deadline = bound;
    }
    peerClosed = true;
  }

  void peerDone() {
    peerClosed = true;
    peerDone = true;
  }

  void tell(long now) {
    told = true;
    toldAt = now;
  }

  /** Whether the peer was told so long ago; counts from now then. */
  boolean isTellDue(long now, long everyNs) {
    boolean due = told && now - toldAt >= everyNs;
    if (due) {
      toldAt = now;
    }
    return due;
  }

  /** How long it is until its bound; 0 or less if that passed. */
  long leftNs(long now) {
    return deadline - now;
  }
}

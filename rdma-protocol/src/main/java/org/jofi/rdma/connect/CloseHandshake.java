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
public final class CloseHandshake {
  public static final long NONE = -1;

  public boolean localClosed;
  public boolean aborted;
  public boolean released;

  public boolean peerReturned;

  /** How many of the peer's writes are to come before it is done. */
  public long awaited = NONE;

  private boolean peerClosed;
  private boolean peerDone;
  private boolean told;
  private long deadline;
  private long toldAt;

  public CloseHandshake() {}

  public void close(long bound) {
    localClosed = true;
    deadline = bound;
  }

  public void peerStopped(long bound) {
    if (!localClosed) {
      deadline = bound;
    }
    peerClosed = true;
  }

  public void peerDone() {
    peerClosed = true;
    peerDone = true;
  }

  /** Whether this end was closed, or aborted. */
  public boolean isLocalClosed() {
    return localClosed;
  }

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

  /** How long it is until its bound; 0 or less if that passed. */
  public long leftNs(long now) {
    return deadline - now;
  }
}

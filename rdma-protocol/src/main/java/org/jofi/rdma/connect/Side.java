package org.jofi.rdma.connect;

import java.lang.foreign.MemorySegment;
import org.jofi.rdma.message.Connection;
import org.jofi.rdma.wire.MessageHeader;
import org.jofi.rdma.wire.Parties;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;

/**
 * One side of a connection that stands, until it is released.
 *
 * <pre>
 * OPEN -- close --&gt; quiet: CLOSE sent -- the peer's CLOSE or CLOSED, or the bound --&gt; released
 * OPEN -- the peer's CLOSE --&gt; quiet: CLOSED sent -- close --&gt; released
 * </pre>
 */
public abstract class Side {
  private final Mailbox mailbox;
  private final Connection connection;
  private boolean localClosed;
  private boolean peerClosed;
  private boolean told;
  private boolean released;
  private long deadline;

  Side(Mailbox mailbox, Connection connection) {
    this.mailbox = mailbox;
    this.connection = connection;
  }

  /** To the peer's communicator, from this side's. */
  public final Parties parties() {
    return connection.parties();
  }

  /** The peer on the control rail that talks about the connection itself. */
  final long controlPeer() {
    return connection.controlPeer(0);
  }

  abstract boolean isQuiet();

  /** Fails what is in flight and what is posted from now on. */
  abstract void fail(Failure why);

  /** How many messages this side started. */
  abstract long started();

  abstract void immediate(int bits);

  abstract void trueLength(long messageNumber, int subReceive, long lengthBytes);

  /** The peer posts nothing more, having started so many messages. */
  abstract void peerStops(long messages);

  final boolean isFrom(MemorySegment message, long at) {
    return MessageHeader.from(message, at) == parties().to()
        && MessageHeader.fromGeneration(message, at) == parties().toGeneration()
        && MessageHeader.attempt(message, at) == parties().attempt();
  }

  final void closeHere(FailureCause why, long bound) {
    localClosed = true;
    deadline = bound;
    fail(new Failure(why, 0, "communicator %d".formatted(parties().from()), ""));
  }

  final void peerGone(long messages, long bound) {
    if (!localClosed) {
      deadline = bound;
    }
    peerClosed = true;
    peerStops(messages);
  }

  final boolean isLocalClosed() {
    return localClosed;
  }

  final boolean isPeerClosed() {
    return peerClosed;
  }

  final boolean isTold() {
    return told;
  }

  final void tell() {
    told = true;
  }

  final boolean isOverdue(long now) {
    return now - deadline >= 0;
  }

  final void release() {
    released = true;
    mailbox.close();
  }

  /** Whether it is gone, with its id and its mailbox. */
  public final boolean isReleased() {
    return released;
  }
}

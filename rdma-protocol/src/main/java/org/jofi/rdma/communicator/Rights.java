package org.jofi.rdma.communicator;

import java.util.Set;
import org.jofi.fabric.Access;
import org.jofi.transport.Use;

/** The access that a use of memory needs, and no more. */
final class Rights {
  /** Of what a message or a one-sided write leaves from: all of it is written to the peer. */
  static final long SENT = Access.WRITE;

  /** Of what a message arrives in: the peer writes it. */
  static final long RECEIVED = Access.REMOTE_WRITE;

  /** Of what a one-sided read arrives in. */
  static final long READ_INTO = Access.READ;

  /** Of memory that is read through the NIC to be flushed. */
  static final long FLUSHED = Access.REMOTE_READ;

  private Rights() {}

  /** Whether the peer reaches memory of these uses when it likes. */
  static boolean expose(Set<Use> uses) {
    return uses.stream().anyMatch(Use::isExposed);
  }

  static long of(Use use, boolean flushed) {
    return switch (use) {
      case SEND -> SENT;
      case RECEIVE -> RECEIVED | READ_INTO | (flushed ? FLUSHED : 0);
      case PEER_READS -> Access.REMOTE_READ;
      case PEER_WRITES -> Access.REMOTE_WRITE;
    };
  }
}

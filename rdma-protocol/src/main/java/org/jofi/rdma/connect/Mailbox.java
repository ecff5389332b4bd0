package org.jofi.rdma.connect;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jofi.mr.LocalRegistration;
import org.jofi.rdma.wire.MailboxTarget;

/**
 * The memory of one mailbox, a piece of a {@link MailboxSlab}: the sender's own, or the receiver's
 * copy. The sender's is zeroed when it is taken, except for what a peer wrote into it that was
 * late.
 */
final class Mailbox implements AutoCloseable {
  private final Mailboxes owner;
  private final MailboxSlab slab;
  private final MemorySegment memory;
  private boolean open;

  Mailbox(Mailboxes owner, MailboxSlab slab, MemorySegment memory) {
    this.owner = owner;
    this.slab = slab;
    this.memory = memory;
  }

  /** It is a connection's from now on. */
  void take() {
    open = true;
  }

  MemorySegment memory() {
    return memory;
  }

  /** How the peer reaches it, per control rail. */
  List<MailboxTarget> targets() {
    return slab.targets(memory.address());
  }

  /** What a copy is registered as. */
  LocalRegistration local() {
    return slab.local();
  }

  /** Gives the memory back; a second call does nothing. */
  @Override
  public void close() {
    if (open) {
      open = false;
      owner.give(this);
    }
  }
}

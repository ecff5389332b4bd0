package org.jofi.rdma.connect;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jofi.fabric.Access;
import org.jofi.mr.BufferRange;
import org.jofi.mr.ControlRegistration;
import org.jofi.mr.LocalRegistration;
import org.jofi.rdma.endpoint.MultiRailEndpoint;
import org.jofi.rdma.wire.MailboxLayout;
import org.jofi.rdma.wire.MailboxTarget;
import org.jspecify.annotations.Nullable;

/** A mailbox's memory, zeroed, and its registration: the sender's own, or the receiver's copy. */
final class Mailbox implements AutoCloseable {
  private final Arena arena;
  private final MemorySegment memory;
  private final @Nullable ControlRegistration control;
  private final @Nullable LocalRegistration local;

  private Mailbox(
      Arena arena,
      MemorySegment memory,
      @Nullable ControlRegistration control,
      @Nullable LocalRegistration local) {
    this.arena = arena;
    this.memory = memory;
    this.control = control;
    this.local = local;
  }

  /** One for the peer to write into. */
  static Mailbox ofSender(MultiRailEndpoint endpoint) {
    return open(endpoint, true);
  }

  /** A copy, to write from. */
  static Mailbox ofReceiver(MultiRailEndpoint endpoint) {
    return open(endpoint, false);
  }

  private static Mailbox open(MultiRailEndpoint endpoint, boolean forPeer) {
    Arena arena = Arena.ofShared();
    try {
      MemorySegment memory =
          arena.allocate(
              new MailboxLayout(endpoint.dataCount()).mailboxBytes(), MailboxLayout.LINE_BYTES);
      BufferRange range = BufferRange.host(memory);
      return forPeer
          ? new Mailbox(
              arena,
              memory,
              endpoint.registrations().registerControl(range, Access.REMOTE_WRITE),
              null)
          : new Mailbox(
              arena,
              memory,
              null,
              endpoint.registrations().registerLocal(range, endpoint.controlRails(), Access.WRITE));
    } catch (RuntimeException e) {
      arena.close();
      throw e;
    }
  }

  MemorySegment memory() {
    return memory;
  }

  /** How the peer reaches it, per control rail. */
  List<MailboxTarget> targets() {
    ControlRegistration registered = control;
    if (registered == null) {
      throw new IllegalStateException("a receiver's copy is not for peers");
    }
    List<MailboxTarget> targets = new ArrayList<>(registered.rails());
    for (int rail = 0; rail < registered.rails(); rail++) {
      targets.add(
          new MailboxTarget(
              registered.remoteAddress(rail, memory.address()), registered.key(rail)));
    }
    return targets;
  }

  LocalRegistration local() {
    LocalRegistration registered = local;
    if (registered == null) {
      throw new IllegalStateException("a sender's mailbox is for its peer");
    }
    return registered;
  }

  /** Closes the registration, then frees the memory; a second call does nothing. */
  @Override
  public void close() {
    if (!arena.scope().isAlive()) {
      return;
    }
    if (control != null) {
      control.close();
    }
    if (local != null) {
      local.close();
    }
    arena.close();
  }
}

package org.jofi.rdma.connect;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jofi.fabric.Access;
import org.jofi.mr.ControlRegistration;
import org.jofi.mr.LocalRegistration;
import org.jofi.mr.registration.BufferRange;
import org.jofi.rdma.driver.EndpointDriver;
import org.jofi.rdma.wire.MailboxTarget;
import org.jspecify.annotations.Nullable;

/**
 * Memory of many mailboxes, zeroed, with one region per control rail: a region costs a provider
 * more than the memory.
 */
final class MailboxSlab implements AutoCloseable {
  /** How many mailboxes are in it. */
  static final int PIECES = 64;

  /** So that it shares no page with anything else. */
  private static final int ALIGNMENT = 4096;

  private final Arena arena;
  private final MemorySegment memory;
  private final @Nullable ControlRegistration control;
  private final @Nullable LocalRegistration local;

  private MailboxSlab(
      Arena arena,
      MemorySegment memory,
      @Nullable ControlRegistration control,
      @Nullable LocalRegistration local) {
    this.arena = arena;
    this.memory = memory;
    this.control = control;
    this.local = local;
  }

  /**
   * Allocates and registers one.
   *
   * @param forPeers whether peers write into it, rather than this side writing from it
   * @throws org.jofi.mr.registration.RegistrationException if a rail refuses it
   */
  static MailboxSlab open(EndpointDriver endpoint, boolean forPeers, int pieceBytes) {
    Arena arena = Arena.ofShared();
    try {
      MemorySegment memory = arena.allocate((long) PIECES * pieceBytes, ALIGNMENT);
      BufferRange range = BufferRange.host(memory);
      return forPeers
          ? new MailboxSlab(
              arena,
              memory,
              endpoint.registrations().registerControl(range, Access.REMOTE_WRITE),
              null)
          : new MailboxSlab(
              arena,
              memory,
              null,
              endpoint.registrations().registerLocal(range, endpoint.controlRails(), Access.WRITE));
    } catch (RuntimeException e) {
      arena.close();
      throw e;
    }
  }

  MemorySegment piece(int number, int pieceBytes) {
    return memory.asSlice((long) number * pieceBytes, pieceBytes);
  }

  /** How peers reach an address in it, per control rail. */
  List<MailboxTarget> targets(long address) {
    ControlRegistration registered = control;
    if (registered == null) {
      throw new IllegalStateException("a receiver's copy is not for peers");
    }
    List<MailboxTarget> targets = new ArrayList<>(registered.rails());
    for (int rail = 0; rail < registered.rails(); rail++) {
      targets.add(new MailboxTarget(registered.remoteAddress(rail, address), registered.key(rail)));
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

  /** Closes the registration, then frees the memory. */
  @Override
  public void close() {
    if (control != null) {
      control.close();
    }
    if (local != null) {
      local.close();
    }
    arena.close();
  }
}

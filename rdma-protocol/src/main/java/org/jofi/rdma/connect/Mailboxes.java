package org.jofi.rdma.connect;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jofi.fabric.Access;
import org.jofi.mr.ControlRegistration;
import org.jofi.mr.EndpointRegistrations;
import org.jofi.mr.LocalRegistration;
import org.jofi.mr.registration.BufferRange;
import org.jofi.mr.teardown.CloseSteps;
import org.jofi.rdma.driver.EndpointDriver;
import org.jofi.rdma.wire.MailboxLayout;
import org.jofi.rdma.wire.MailboxTarget;
import org.jspecify.annotations.Nullable;

/**
 * The mailboxes of one endpoint's connections, or the copies of its peers' mailboxes, out of slabs
 * that are registered as a whole. It grows by a slab when all pieces are taken, and keeps its slabs
 * until the endpoint is gone. Used with the endpoint's lock held.
 *
 * <p><b>Why a piece may be used again although a peer may still write into it.</b> A peer that
 * counts as lost, or whose close took too long, may have writes on their way, which land in the
 * piece later. Each line that it writes bears the generation of the connection that was, which is
 * given out again after 65 534 others at the earliest, and a check of 48 bits over all of the line.
 * A sender only uses what it has copied out of the mailbox and then found to be whole and of its
 * own generation. So a late line counts as no line. If it lands on a line of the connection that
 * now has the piece, that line is missing, and the receiver is told so, and writes it again.
 *
 * <p><b>Why a copy may be used again although this side may still write from it.</b> A write of
 * entries that is out on a silent rail goes over another one, too, and nobody waits for the first.
 * So a copy is left as it is when it is given back: a late write finds the bytes that it was posted
 * with, until another connection puts its own there. What it takes of those is late at the peer.
 */
final class Mailboxes {
  /** How many a slab holds: a region costs a provider more than the memory. */
  static final int PIECES = 64;

  /** So that a slab shares no page with anything else. */
  private static final int ALIGNMENT = 4096;

  private final EndpointDriver endpoint;
  private final boolean forPeers;
  private final int pieceBytes;
  private final List<Slab> slabs = new ArrayList<>();

  /** The piece that was given back first is taken first: what is late finds it free. */
  private final ArrayDeque<Mailbox> free = new ArrayDeque<>();

  private boolean closed;

  /** Memory of many, zeroed, with one region per control rail. */
  private record Slab(
      Arena arena, @Nullable ControlRegistration control, @Nullable LocalRegistration local) {

    void close() {
      if (control != null) {
        control.close();
      }
      if (local != null) {
        local.close();
      }
      arena.close();
    }
  }

  /**
   * The memory of one: the sender's own, or the receiver's copy. The sender's is zeroed when it is
   * taken, except for what a peer wrote into it that was late.
   */
  final class Mailbox implements AutoCloseable {
    private final Slab slab;
    final MemorySegment memory;
    private boolean open;

    private Mailbox(Slab slab, MemorySegment memory) {
      this.slab = slab;
      this.memory = memory;
    }

    /** How the peer reaches the sender's own, per control rail. */
    List<MailboxTarget> targets() {
      ControlRegistration control = Objects.requireNonNull(slab.control);
      return IntStream.range(0, control.rails())
          .mapToObj(
              rail ->
                  new MailboxTarget(
                      control.remoteAddress(rail, memory.address()), control.key(rail)))
          .toList();
    }

    LocalRegistration local() {
      return Objects.requireNonNull(slab.local);
    }

    /** Gives the memory back; a second call does nothing. */
    @Override
    public void close() {
      if (open && !closed) {
        if (forPeers) {
          memory.fill((byte) 0);
        }
        free.addLast(this);
      }
      open = false;
    }
  }

  /**
   * @param forPeers whether peers write into them, rather than this side writing from them
   */
  Mailboxes(EndpointDriver endpoint, boolean forPeers) {
    this.endpoint = endpoint;
    this.forPeers = forPeers;
    pieceBytes = new MailboxLayout(endpoint.dataCount()).mailboxBytes();
  }

  /**
   * Takes one.
   *
   * @throws org.jofi.mr.registration.RegistrationException if a slab is needed, and a rail refuses
   *     it
   */
  Mailbox take() {
    if (free.isEmpty()) {
      addSlab();
    }
    Mailbox taken = free.removeFirst();
    taken.open = true;
    return taken;
  }

  private void addSlab() {
    Arena arena = Arena.ofShared();
    try {
      MemorySegment memory = arena.allocate((long) PIECES * pieceBytes, ALIGNMENT);
      BufferRange range = BufferRange.host(memory);
      EndpointRegistrations registrations = endpoint.registrations;
      Slab slab =
          forPeers
              ? new Slab(arena, registrations.registerControl(range, Access.REMOTE_WRITE), null)
              : new Slab(
                  arena,
                  null,
                  registrations.registerLocal(range, endpoint.controlRails(), Access.WRITE));
      slabs.add(slab);
      for (long at = 0; at < memory.byteSize(); at += pieceBytes) {
        free.addLast(new Mailbox(slab, memory.asSlice(at, pieceBytes)));
      }
    } catch (RuntimeException e) {
      arena.close();
      throw e;
    }
  }

  long bytes() {
    return (long) slabs.size() * PIECES * pieceBytes;
  }

  /** The endpoint is gone: frees all, also what is still taken; a second call does nothing. */
  void close() {
    closed = true;
    free.clear();
    CloseSteps steps = new CloseSteps();
    slabs.forEach(slab -> steps.step(slab::close));
    slabs.clear();
    steps.end();
  }
}

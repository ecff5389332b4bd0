package org.jofi.rdma.connect;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jofi.mr.teardown.CloseSteps;
import org.jofi.rdma.driver.EndpointDriver;
import org.jofi.rdma.wire.MailboxLayout;

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
  private final EndpointDriver endpoint;
  private final boolean forPeers;
  private final int pieceBytes;
  private final List<MailboxSlab> slabs = new ArrayList<>();

  /** The piece that was given back first is taken first: what is late finds it free. */
  private final ArrayDeque<Mailbox> free = new ArrayDeque<>();

  private boolean closed;

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
    Mailbox taken = free.pollFirst();
    if (taken == null) {
      MailboxSlab slab = MailboxSlab.open(endpoint, forPeers, pieceBytes);
      slabs.add(slab);
      for (int piece = 0; piece < MailboxSlab.PIECES; piece++) {
        free.addLast(new Mailbox(this, slab, slab.piece(piece, pieceBytes)));
      }
      taken = free.removeFirst();
    }
    taken.take();
    return taken;
  }

  void give(Mailbox mailbox) {
    if (!closed) {
      if (forPeers) {
        mailbox.memory().fill((byte) 0);
      }
      free.addLast(mailbox);
    }
  }

  /** Bytes of all slabs. */
  long bytes() {
    return (long) slabs.size() * MailboxSlab.PIECES * pieceBytes;
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

package org.jofi.rdma.engine;

import java.lang.foreign.MemorySegment;
import org.jofi.rdma.request.PeerLink;
import org.jofi.rdma.request.RequestQueue;
import org.jofi.rdma.wire.MessageType;
import org.jofi.transport.Failure;

/** What both ends of a protocol of packets alone have no part in: writes, and data rails. */
abstract class PacketQueue extends RequestQueue implements MessageProtocol {
  PacketQueue(PeerLink link, int most) {
    super(link, MESSAGES, most);
  }

  @Override
  public final RequestQueue requests() {
    return this;
  }

  @Override
  public final void immediate(int bits) {
    throw new AssertionError("nobody writes here");
  }

  @Override
  public final boolean message(MessageType type, MemorySegment memory) {
    return false;
  }

  @Override
  public final int hasStripe(long receiveIndex, int stripe) {
    return UNKNOWN;
  }

  @Override
  public final long firstUnseen() {
    return 0;
  }

  @Override
  public final long writes() {
    return 0;
  }

  @Override
  public final long arrived() {
    return 0;
  }

  @Override
  public final void peerIsAt(long messages, long unseen) {
    // Packets do not get lost without a word.
  }

  @Override
  public final void queueBroke(Failure why) {
    fail(why);
  }

  @Override
  public final void railClosed() {
    // Data rails carry nothing of it.
  }
}

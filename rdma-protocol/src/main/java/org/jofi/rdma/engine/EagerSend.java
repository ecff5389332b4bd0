package org.jofi.rdma.engine;

/**
 * A short message that was copied into a packet. It is over when a provider took the packet: so a
 * caller that sees it over may stop to poll.
 */
final class EagerSend extends RequestStrategy {
  private final Sender sender;
  private long lengthBytes;
  private int tag;

  EagerSend(Sender sender, Request request) {
    super(request);
    this.sender = sender;
  }

  /** Starts: its packet is under way. */
  void start(long bytes, int ofTag) {
    lengthBytes = bytes;
    tag = ofTag;
    request().begin(this);
    request().begun(1);
  }

  @Override
  boolean isComplete() {
    return true;
  }

  @Override
  boolean isTimed() {
    return true;
  }

  @Override
  boolean endsByItself() {
    return false;
  }

  @Override
  long movedBytes() {
    return lengthBytes;
  }

  @Override
  void cut() {
    // Its packet is dropped when its turn comes, with all that is in it.
  }

  @Override
  String where() {
    return "isend of %d bytes with tag %d to %s"
        .formatted(lengthBytes, tag, sender.link().describePeer());
  }

  @Override
  String missing() {
    return "its packet, not taken by a control rail";
  }
}

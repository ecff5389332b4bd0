package org.jofi.rdma.engine;

import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.request.Request;
import org.jofi.rdma.request.StrategyList;
import org.jofi.rdma.sequence.Announcements;
import org.jofi.rdma.staging.StagingSpace;
import org.jofi.transport.Failure;
import org.jspecify.annotations.Nullable;

/**
 * A send as its caller posted it, until it is written into the memory of its receive: its request
 * goes on in another way then, with its lease.
 *
 * <p>One that cannot start is queued: no receive of its tag is there, and it may not leave without;
 * or its entry was written over, or there are no blocks to stage it through. It waits without a
 * time limit, and only a failure of its queue of requests fails it.
 *
 * <p>A short one may leave without a receive, as a copy in a packet. It is over when a provider
 * took the packet: so a caller that sees it over may stop to poll.
 */
final class PostedSend extends StrategyList.Listed<PostedSend> {
  private final Sender sender;
  private @Nullable DataRegistration memory;

  /** What it is staged through; null if it is not. */
  @Nullable StagingSpace space;

  long address;
  long lengthBytes;
  int tag;

  /** Whether it may leave without a receive. */
  boolean isShort;

  /** Its number among those whose bytes are in packets; 0 if it did not leave so. */
  long ordinal;

  /** Whether its packet waits for a provider. */
  boolean out;

  /** Its receive, or {@link Announcements#NOWHERE}. */
  long index;

  boolean queued;

  /** The ways in which it may go on, made when they are needed: most communicators are idle. */
  private @Nullable RendezvousSend rendezvous;

  private @Nullable StagedSend staged;

  PostedSend(Sender sender, Request request) {
    super(request);
    this.sender = sender;
  }

  void start(
      long from,
      long bytes,
      int ofTag,
      @Nullable DataRegistration registration,
      @Nullable StagingSpace staging,
      long at) {
    address = from;
    lengthBytes = bytes;
    tag = ofTag;
    space = staging;
    index = at;
    ordinal = 0;
    out = false;
    queued = false;
    memory = registration;
    isShort =
        bytes <= sender.shortBytes
            && registration != null
            && registration.isHostMemory()
            && registration.isOpen();
  }

  /** A provider took its packet, or it failed. */
  void left(@Nullable Failure why) {
    out = false;
    if (why == null) {
      request.settle();
    } else {
      fail(why);
    }
  }

  /** Leases its memory, if it is registered; false if it is not any more. */
  boolean hold() {
    DataRegistration registered = memory;
    if (registered != null && !registered.beginUse()) {
      return false;
    }
    lease = registered;
    return true;
  }

  RendezvousSend rendezvous() {
    RendezvousSend whole = rendezvous;
    if (whole == null) {
      whole = new RendezvousSend(sender, this);
      rendezvous = whole;
    }
    return whole;
  }

  StagedSend staged() {
    StagedSend chunks = staged;
    if (chunks == null) {
      chunks = new StagedSend(sender, this);
      staged = chunks;
    }
    return chunks;
  }

  /** Its request goes on in another way, with its lease. */
  void handOver() {
    request.matched();
    lease = null;
    space = null;
  }

  @Override
  public boolean isOut() {
    return out;
  }

  @Override
  public boolean isComplete() {
    return ordinal > 0;
  }

  @Override
  public boolean isTimed() {
    return ordinal > 0;
  }

  @Override
  public boolean endsByItself() {
    return false;
  }

  @Override
  public int tag() {
    return tag;
  }

  @Override
  public long movedBytes() {
    return lengthBytes;
  }

  @Override
  public void cut() {
    // Nothing of it was posted; or its packet is dropped when its turn comes.
  }

  @Override
  public void endUse() {
    super.endUse();
    space = null;
  }

  @Override
  public String where() {
    return "isend of %d bytes with tag %d to %s"
        .formatted(lengthBytes, tag, sender.link.describePeer());
  }

  @Override
  public String missing() {
    if (ordinal > 0) {
      return "its packet, not taken by a control rail";
    }
    if (index == Announcements.NOWHERE) {
      return "a receive of its tag, or credit";
    }
    StagingSpace staging = space;
    if (staging == null) {
      return "the entry of its receive";
    }
    String refusal = staging.refusal();
    return "blocks to stage it through"
        + (refusal.isEmpty() ? "" : "; those that there are, since more were refused: " + refusal);
  }
}

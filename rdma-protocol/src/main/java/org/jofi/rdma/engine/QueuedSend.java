package org.jofi.rdma.engine;

import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.staging.StagingSpace;
import org.jspecify.annotations.Nullable;

/**
 * A send that cannot start yet: no receive of its tag is there, and it may not leave without; or
 * its entry was written over, or there are no blocks to stage it through. It waits without a time
 * limit, and only a failure of its queue of requests fails it. When it starts, its request goes on
 * in another way, with its lease.
 */
final class QueuedSend extends ListedStrategy<QueuedSend> {
  private final Sender sender;
  private @Nullable StagingSpace space;
  private long address;
  private long lengthBytes;
  private int tag;
  private long index;

  QueuedSend(Sender sender, Request request) {
    super(request);
    this.sender = sender;
  }

  /**
   * @param memory in use; null if it is staged
   * @param at its receive, or {@link Announcements#NOWHERE}
   */
  void start(
      long from,
      long bytes,
      int ofTag,
      @Nullable DataRegistration memory,
      @Nullable StagingSpace staging,
      long at) {
    address = from;
    lengthBytes = bytes;
    tag = ofTag;
    lease(memory);
    space = staging;
    index = at;
    request().begin(this);
  }

  /** It takes that receive, which was seen just now. */
  void meet(long at) {
    index = at;
  }

  /** Its request goes on in another way, with its lease. */
  void handedOver() {
    lease(null);
    space = null;
  }

  /** Its receive, or {@link Announcements#NOWHERE}. */
  long index() {
    return index;
  }

  int tag() {
    return tag;
  }

  long address() {
    return address;
  }

  long lengthBytes() {
    return lengthBytes;
  }

  @Nullable StagingSpace space() {
    return space;
  }

  @Override
  boolean isComplete() {
    return false;
  }

  @Override
  boolean isTimed() {
    return false;
  }

  @Override
  boolean endsByItself() {
    return false;
  }

  @Override
  long movedBytes() {
    return 0;
  }

  @Override
  void cut() {
    // Nothing of it was posted.
  }

  @Override
  void endUse() {
    super.endUse();
    space = null;
  }

  @Override
  String where() {
    return "isend with tag %d to %s".formatted(tag, sender.link().describePeer());
  }

  @Override
  String missing() {
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

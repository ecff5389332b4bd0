package org.jofi.rdma.message;

import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.staging.StagingSpace;
import org.jspecify.annotations.Nullable;

/**
 * A send that cannot start yet: no receive of its tag is there, or its entry was written over, or
 * there are no blocks to stage it through. It waits without a time limit, and only a failure of its
 * queue of requests fails it. When it starts, another request takes over its slot and its lease.
 */
final class QueuedSend extends Request {
  private final Sender sender;
  private @Nullable QueuedSend previous;
  private @Nullable QueuedSend next;
  private @Nullable DataRegistration registration;
  private @Nullable StagingSpace space;
  private long address;
  private long lengthBytes;
  private int tag;
  private long index;

  QueuedSend(Sender sender, int slot) {
    super(sender, slot);
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
    registration = memory;
    space = staging;
    index = at;
    begin();
  }

  /** Its receive is there. */
  void meet(long at) {
    index = at;
  }

  /** Another request took over its slot and its lease. */
  void handedOver() {
    withdraw();
    registration = null;
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

  @Nullable DataRegistration registration() {
    return registration;
  }

  @Nullable StagingSpace space() {
    return space;
  }

  @Nullable QueuedSend previous() {
    return previous;
  }

  @Nullable QueuedSend next() {
    return next;
  }

  void link(@Nullable QueuedSend before, @Nullable QueuedSend after) {
    previous = before;
    next = after;
  }

  @Override
  protected boolean postAll() {
    return true;
  }

  @Override
  public void completed(long cookie, long bytes) {
    throw new IllegalStateException("it posts nothing");
  }

  @Override
  protected boolean isComplete() {
    return false;
  }

  @Override
  protected boolean isTimed() {
    return false;
  }

  @Override
  protected boolean endsByItself() {
    return false;
  }

  @Override
  protected boolean isExposed() {
    return false;
  }

  @Override
  protected long movedBytes() {
    return 0;
  }

  @Override
  protected void endUse() {
    DataRegistration memory = registration;
    registration = null;
    space = null;
    if (memory != null) {
      memory.endUse();
    }
  }

  @Override
  protected String where() {
    return "isend with tag %d to %s".formatted(tag, sender.link().describePeer());
  }

  @Override
  protected String missing() {
    if (index == Announcements.NOWHERE) {
      return "a receive of its tag";
    }
    return space == null ? "the entry of its receive" : "blocks to stage it through";
  }
}

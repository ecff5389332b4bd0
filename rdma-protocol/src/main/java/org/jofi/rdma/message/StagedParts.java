package org.jofi.rdma.message;

import org.jofi.rdma.wire.ProtocolLimits;

/** The chunks of one {@link StagedSend} that are on their way, each a request of its own. */
final class StagedParts extends RequestQueue {
  private final Chunk[] requests;

  /** One chunk; who owns it is told when no operation of it is left. */
  private static final class Chunk extends SendRequest {
    private final StagedSend owner;
    private int part;

    Chunk(Sender sender, StagedParts parts, int slot, StagedSend owner) {
      super(sender, parts, slot);
      this.owner = owner;
    }

    /** Never: its index stands for another chunk later, for which a second arrival would count. */
    @Override
    public boolean mayRepeat(long cookie) {
      return false;
    }

    @Override
    protected void endUse() {
      super.endUse();
      owner.sent(part);
    }
  }

  StagedParts(Sender sender, StagedSend owner) {
    super(sender.link(), RequestTable.MESSAGES, ProtocolLimits.MAX_GROUP);
    requests = new Chunk[table().size()];
    for (int slot = 0; slot < requests.length; slot++) {
      requests[slot] = new Chunk(sender, this, slot, owner);
    }
  }

  /** A request for a part; there is always one, since a part has one at a time. */
  SendRequest take(int part) {
    int slot = begin();
    if (slot == RequestTable.NONE) {
      throw new IllegalStateException("no request for part " + part);
    }
    requests[slot].part = part;
    return requests[slot];
  }

  /** Whether nothing more has to be posted for any of them. */
  boolean endByThemselves() {
    for (int slot = 0; slot < table().used(); slot++) {
      if (table().isActive(slot) && !requests[slot].endsByItself()) {
        return false;
      }
    }
    return true;
  }

  /** As {@link Request#progress}, of all. */
  long progress() {
    long sum = 0;
    for (int slot = 0; slot < table().used(); slot++) {
      if (table().isActive(slot)) {
        sum += requests[slot].progress();
      }
    }
    return sum;
  }

  @Override
  SendRequest request(int slot) {
    return requests[slot];
  }

  @Override
  public boolean waits() {
    return isActive();
  }

  @Override
  void ended(Request request) {
    // Nobody asks for it.
    table().test(table().id(request.slot()));
  }
}

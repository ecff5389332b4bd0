package org.jofi.rdma.driver;

/**
 * What goes over the data rails to one peer, which its connections share: what is written, what is
 * read, and which rails are silent.
 */
final class PeerFlows implements RailClock.Load {
  private final DataFlow writes;
  private final DataFlow reads;
  private final RailClock clock;

  PeerFlows(DataFlow writes, DataFlow reads, RailClock clock) {
    this.writes = writes;
    this.reads = reads;
    this.clock = clock;
  }

  /** What goes to the peer. */
  DataFlow writes() {
    return writes;
  }

  /** What is read from it. */
  DataFlow reads() {
    return reads;
  }

  /** Which rails are silent. */
  RailClock clock() {
    return clock;
  }

  @Override
  public long out(int rail) {
    return writes.out(rail) + reads.out(rail);
  }

  @Override
  public double expectedNs(int rail) {
    return writes.expectedNs(rail) + reads.expectedNs(rail);
  }

  /** Looks which rails are silent; in time in which this side looked, in nanoseconds. */
  void look(long now) {
    clock.look(this, now);
  }
}

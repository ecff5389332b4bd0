package org.jofi.rdma.wire;

/** What is wrong with bytes that came from a peer. */
public enum WireFault {
  NONE("sound"),
  TRUNCATED("too short"),
  TRAILING("bytes after the end"),
  MAGIC("not this protocol"),
  VERSION("another protocol version"),
  TYPE("unknown message type"),
  LENGTH("wrong length"),
  RESERVED("reserved field in use"),
  COMMUNICATOR("no such communicator id"),
  GENERATION("wrong generation"),
  RAILS("wrong number of rails"),
  ADDRESS("bad address length"),
  RANGE("bad memory range"),
  INDEX("no such receive in flight"),
  STRIPE("no such stripe"),
  IMMEDIATE("immediate data too wide"),
  FEATURE("unknown feature"),
  REASON("unknown reason");

  private final String words;

  WireFault(String words) {
    this.words = words;
  }

  public String words() {
    return words;
  }
}

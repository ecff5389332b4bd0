package org.jofi.rdma.wire;

/** What is wrong with bytes that came from a peer. */
public enum WireFault {
  /** Nothing. */
  NONE("sound"),
  /** Fewer bytes than the message needs. */
  TRUNCATED("too short"),
  /** More bytes than the message has. */
  TRAILING("bytes after the end"),
  /** Not a message of this protocol. */
  MAGIC("not this protocol"),
  /** A version that this side does not speak. */
  VERSION("another protocol version"),
  /** No such type of message, or one that does not belong here. */
  TYPE("unknown message type"),
  /** The length in the message is not the message's. */
  LENGTH("wrong length"),
  /** A field that must be 0 is not. */
  RESERVED("reserved field in use"),
  /** A communicator id past 15 bits, or 0. */
  COMMUNICATOR("no such communicator id"),
  /** A generation of 0, or another one than the communicator's. */
  GENERATION("wrong generation"),
  /** No such number of rails. */
  RAILS("wrong number of rails"),
  /** An address that is empty or too long. */
  ADDRESS("bad address length"),
  /** A memory range that wraps around, or is longer than allowed. */
  RANGE("bad memory range"),
  /** A receive index of 0, or outside of what is in flight. */
  INDEX("no such receive in flight"),
  /** A stripe past the last one. */
  STRIPE("no such stripe"),
  /** Immediate data wider than 32 bits. */
  IMMEDIATE("immediate data too wide"),
  /** A feature that this version does not define. */
  FEATURE("unknown feature"),
  /** A reason code that is not defined. */
  REASON("unknown reason");

  private final String words;

  WireFault(String words) {
    this.words = words;
  }

  /** What it is, in a few words of lower case. */
  public String words() {
    return words;
  }
}

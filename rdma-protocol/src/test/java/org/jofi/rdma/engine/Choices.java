package org.jofi.rdma.engine;

/**
 * What a run chooses, one byte after the other; when they are used up, always the first. So a
 * failing run shrinks to a shorter and simpler one.
 */
final class Choices {
  private final byte[] bytes;
  private int at;

  Choices(byte[] bytes) {
    this.bytes = bytes;
  }

  /** One of so many. */
  int of(int count) {
    return at < bytes.length ? (bytes[at++] & 0xff) % count : 0;
  }

  boolean areLeft() {
    return at < bytes.length;
  }
}

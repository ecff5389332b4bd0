package org.jofi.rdma.operation;

import org.agrona.concurrent.UnsafeBuffer;

/** Copies between addresses of this process, without allocation. One thread at a time. */
public final class MemoryCopier {
  private final UnsafeBuffer source = new UnsafeBuffer(0, 0);
  private final UnsafeBuffer target = new UnsafeBuffer(0, 0);

  /** One of an endpoint. */
  public MemoryCopier() {}

  /** Both are host memory, and trusted: memory that is not there ends the process. */
  public void copy(long from, long to, int lengthBytes) {
    if (lengthBytes > 0) {
      source.wrap(from, lengthBytes);
      target.wrap(to, lengthBytes);
      target.putBytes(0, source, 0, lengthBytes);
    }
  }
}

package org.jofi.rdma.nic;

import org.agrona.concurrent.UnsafeBuffer;
import org.jofi.rdma.operation.MemoryCopier;

/** Copies between addresses of this process, without allocation. One thread at a time. */
public final class BufferCopier implements MemoryCopier {
  private final UnsafeBuffer source = new UnsafeBuffer(0, 0);
  private final UnsafeBuffer target = new UnsafeBuffer(0, 0);

  @Override
  public void copy(long from, long to, int lengthBytes) {
    if (lengthBytes > 0) {
      source.wrap(from, lengthBytes);
      target.wrap(to, lengthBytes);
      target.putBytes(0, source, 0, lengthBytes);
    }
  }
}

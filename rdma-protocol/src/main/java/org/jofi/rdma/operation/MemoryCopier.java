package org.jofi.rdma.operation;

/** Copies between addresses of this process, without allocation. One thread at a time. */
public interface MemoryCopier {
  /** Both are host memory, and trusted: memory that is not there ends the process. */
  void copy(long from, long to, int lengthBytes);
}

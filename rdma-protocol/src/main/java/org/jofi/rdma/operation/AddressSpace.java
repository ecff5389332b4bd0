package org.jofi.rdma.operation;

import java.lang.foreign.MemorySegment;

/** The memory of this process: what is registered by its address has no segment of its own. */
public final class AddressSpace {
  /** Trusted: memory that is not there ends the process. */
  @SuppressWarnings("restricted")
  public static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

  private AddressSpace() {}
}

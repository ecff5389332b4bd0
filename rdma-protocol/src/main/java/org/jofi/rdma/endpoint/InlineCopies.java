package org.jofi.rdma.endpoint;

import org.agrona.concurrent.UnsafeBuffer;
import org.jofi.rdma.memory.BlockFreelist;
import org.jofi.rdma.memory.BlockRegistrar;
import org.jofi.rdma.memory.FreelistShape;

/** Copies of what is written inline, in memory that is registered on the data rails. */
public final class InlineCopies {
  /** Longest copy. */
  public static final int BYTES = 512;

  /** {@link #take}: all copies are on their way. */
  public static final int NONE = BlockFreelist.EXHAUSTED;

  private static final int ALIGNMENT = 64;
  private static final int GROWTH = 64;
  private static final int MOST = 4096;

  private final BlockFreelist entries;
  private final UnsafeBuffer from = new UnsafeBuffer(0, 0);
  private final UnsafeBuffer to = new UnsafeBuffer(0, 0);
  private boolean abandoned;

  InlineCopies(String label, int pageBytes, BlockRegistrar registrar) {
    entries =
        new BlockFreelist(
            "inline copies of " + label,
            new FreelistShape(BYTES, ALIGNMENT, GROWTH, MOST, pageBytes),
            registrar);
  }

  /**
   * Takes a copy.
   *
   * @param address first byte, in host memory, not 0. It is trusted: memory that is not there ends
   *     the process
   * @param lengthBytes 1 to {@link #BYTES}
   * @return the copy, or {@link #NONE}
   * @throws org.jofi.mr.registration.RegistrationException if memory is needed and a rail refuses
   *     it
   */
  public int take(long address, int lengthBytes) {
    int entry = entries.take();
    if (entry != NONE) {
      from.wrap(address, lengthBytes);
      to.wrap(entries.address(entry), lengthBytes);
      to.putBytes(0, from, 0, lengthBytes);
    }
    return entry;
  }

  /** Where a copy is. */
  public long address(int entry) {
    return entries.address(entry);
  }

  /** What posting calls on a data rail take as descriptor for a copy. */
  public long descriptor(int entry, int rail) {
    return entries.descriptor(entry, rail);
  }

  /** Gives a copy back; a no-op once the endpoint is closed, which took all of them back. */
  public void give(int entry) {
    if (!abandoned) {
      entries.give(entry);
    }
  }

  /** Frees the memory, when nothing can use it any more; a second call does nothing. */
  void abandon() {
    abandoned = true;
    entries.abandon();
  }
}

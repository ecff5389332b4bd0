package org.jofi.rdma.nic;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jofi.rdma.memory.BlockFreelist;
import org.jofi.rdma.memory.FreelistShape;
import org.jofi.rdma.operation.InlineCopy;
import org.jofi.rdma.operation.MemoryCopier;
import org.jofi.rdma.operation.OperationSink;
import org.jspecify.annotations.Nullable;

/** Copies of what is written inline, in memory that is registered on the data rails. */
public final class InlineCopies {

  private static final int ALIGNMENT = 64;
  private static final int GROWTH = 64;
  private static final int MOST = 4096;

  private final BlockFreelist entries;
  private final List<@Nullable InlineCopy> copies = new ArrayList<>();
  private final MemoryCopier copier;
  private boolean abandoned;

  public InlineCopies(
      String label,
      int pageBytes,
      MemoryCopier copier,
      Function<MemorySegment, BlockFreelist.Registration> registrar) {
    this.copier = copier;
    entries =
        new BlockFreelist(
            "inline copies of " + label,
            new FreelistShape(OperationSink.INLINE_BYTES, ALIGNMENT, GROWTH, MOST, pageBytes),
            registrar);
  }

  private final class Copy implements InlineCopy {
    private final int entry;

    Copy(int entry) {
      this.entry = entry;
    }

    @Override
    public long address() {
      return entries.address(entry);
    }

    @Override
    public long descriptor(int rail) {
      return entries.descriptor(entry, rail);
    }

    @Override
    public void give() {
      if (!abandoned) {
        entries.give(entry);
      }
    }
  }

  public @Nullable InlineCopy take(long address, int lengthBytes) {
    int entry = entries.take();
    if (entry == BlockFreelist.EXHAUSTED) {
      return null;
    }
    copier.copy(address, entries.address(entry), lengthBytes);
    while (copies.size() <= entry) {
      copies.add(null);
    }
    InlineCopy copy = copies.get(entry);
    if (copy == null) {
      copy = new Copy(entry);
      copies.set(entry, copy);
    }
    return copy;
  }

  /** Frees the memory, when nothing can use it any more; a second call does nothing. */
  public void abandon() {
    abandoned = true;
    entries.abandon();
  }
}

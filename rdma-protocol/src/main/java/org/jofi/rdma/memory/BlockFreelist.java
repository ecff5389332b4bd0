package org.jofi.rdma.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.function.Function;
import org.jofi.mr.registration.Descriptors;
import org.jofi.mr.teardown.CloseSteps;

/**
 * Entries of fixed size in registered memory. It grows a block at a time, on demand, and never
 * shrinks; each block is registered whole. One thread at a time.
 *
 * <p>An entry is an int, from {@link #take} to {@link #give}. Both allocate nothing, except when
 * the list grows; {@link #reserve} grows it ahead of time. Entries keep what their last user left
 * in them; those of a new block are zero.
 *
 * <p>It owns memory and registrations, and frees them in reverse when nothing can use them any
 * more: {@link #abandon}.
 */
public final class BlockFreelist {
  /** {@link #take}: the limit is reached and every entry is out. */
  public static final int EXHAUSTED = -1;

  private final String label;
  private final FreelistShape shape;
  private final Function<MemorySegment, Registration> registrar;
  // Of the shape, which divides to tell them.
  private final int blockEntries;
  private final int strideBytes;
  private final int maxBlocks;
  private final Block[] blocks;
  private final int[] freeEntries;
  private final long[] out;
  private int blockCount;
  private int free;
  private boolean closed;

  /**
   * An empty list.
   *
   * @param registrar registers a block, which is aligned to a page and a multiple of it long; if it
   *     throws, nothing stays registered
   */
  public BlockFreelist(
      String label, FreelistShape shape, Function<MemorySegment, Registration> registrar) {
    this.label = label;
    this.shape = shape;
    this.registrar = registrar;
    blockEntries = shape.blockEntries();
    strideBytes = shape.strideBytes();
    // The last block may hold more entries than the limit leaves; they stay unused.
    maxBlocks = (shape.maxEntries() - 1) / blockEntries + 1;
    blocks = new Block[maxBlocks];
    freeEntries = new int[shape.maxEntries()];
    out = new long[(shape.maxEntries() - 1) / Long.SIZE + 1];
  }

  /**
   * Takes an entry, the one given back last.
   *
   * @return the entry, or {@link #EXHAUSTED}
   * @throws RuntimeException the registrar's, if a block that is needed cannot be registered; the
   *     list is as it was
   * @throws IllegalStateException if the list is closed
   */
  public int take() {
    requireOpen();
    if (free == 0) {
      if (blockCount == maxBlocks) {
        return EXHAUSTED;
      }
      grow();
    }
    int entry = freeEntries[--free];
    out[entry / Long.SIZE] |= 1L << entry;
    return entry;
  }

  public void give(int entry) {
    requireOut(entry);
    out[entry / Long.SIZE] &= ~(1L << entry);
    freeEntries[free++] = entry;
  }

  /**
   * Grows until so many entries are free, or the limit is reached.
   *
   * @throws RuntimeException as {@link #take}
   */
  public void reserve(int entries) {
    requireOpen();
    while (free < entries && blockCount < maxBlocks) {
      grow();
    }
  }

  public long address(int entry) {
    return block(entry).memory.address() + offset(entry);
  }

  /** What posting calls on a rail take as descriptor for an entry that is out. */
  public long descriptor(int entry, int rail) {
    return block(entry).registration.descriptors.descriptor(rail);
  }

  public MemorySegment memory(int entry) {
    return block(entry).memory;
  }

  /** Where in {@link #memory} it starts. */
  public long offset(int entry) {
    return (long) (entry % blockEntries) * strideBytes;
  }

  /**
   * Closes it whatever is out; a second call does nothing.
   *
   * @throws RuntimeException the first of the registrations' that could not be closed, with the
   *     others suppressed; the memory of those stays mapped, and calling again tries them again
   */
  public void abandon() {
    closed = true;
    free = 0;
    Arrays.fill(out, 0);
    CloseSteps steps = new CloseSteps();
    for (int i = blockCount - 1; i >= 0; i--) {
      if (steps.step(blocks[i]::release)) {
        blockCount--;
        System.arraycopy(blocks, i + 1, blocks, i, blockCount - i);
      }
    }
    steps.end();
  }

  private void grow() {
    int from = blockCount * blockEntries;
    int to = Math.min(from + blockEntries, shape.maxEntries());
    blocks[blockCount] = Block.open(shape, registrar);
    blockCount++;
    for (int entry = to - 1; entry >= from; entry--) {
      freeEntries[free++] = entry;
    }
  }

  private Block block(int entry) {
    requireOut(entry);
    return blocks[entry / blockEntries];
  }

  private void requireOut(int entry) {
    if (entry < 0 || entry >= shape.maxEntries() || (out[entry / Long.SIZE] & 1L << entry) == 0) {
      throw new IllegalStateException("%s: entry %d is not out".formatted(label, entry));
    }
  }

  private void requireOpen() {
    if (closed) {
      throw new IllegalStateException(label + " is closed");
    }
  }

  /**
   * A block as registered with the rails that use it.
   *
   * @param descriptors what posting calls take
   * @param end closes the registration; the block's memory is still there
   */
  public record Registration(Descriptors descriptors, Runnable end) {}

  private record Block(Arena arena, MemorySegment memory, Registration registration) {

    static Block open(FreelistShape shape, Function<MemorySegment, Registration> registrar) {
      Arena arena = Arena.ofShared();
      try {
        MemorySegment memory = arena.allocate(shape.blockBytes(), shape.pageBytes());
        return new Block(arena, memory, registrar.apply(memory));
      } catch (RuntimeException | Error refused) {
        arena.close();
        throw refused;
      }
    }

    void release() {
      registration.end.run();
      arena.close();
    }
  }
}

package org.jofi.rdma.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jofi.mr.registration.Descriptors;
import org.jofi.mr.teardown.CloseSteps;
import org.jofi.rdma.operation.InlineCopy;
import org.jspecify.annotations.Nullable;

/**
 * Buffers of one length in registered memory. It grows a block at a time, on demand, and never
 * shrinks; each block is registered whole. Whoever takes a buffer may keep it, and use it again, or
 * give it back. Those of a new block are zero. One thread at a time.
 *
 * <p>It owns memory and registrations, and frees them in reverse when nothing can use them any
 * more: {@link #abandon}.
 */
public final class RegisteredBuffers {
  private final String label;
  private final BufferShape shape;
  private final Function<MemorySegment, Registration> registrar;
  private final List<Block> blocks = new ArrayList<>();
  private final ArrayDeque<Buffer> left = new ArrayDeque<>();
  private int made;
  private boolean closed;

  /** A part of a block. */
  public final class Buffer implements InlineCopy {
    private final MemorySegment memory;
    private final Descriptors descriptors;

    private Buffer(MemorySegment memory, Descriptors descriptors) {
      this.memory = memory;
      this.descriptors = descriptors;
    }

    public MemorySegment memory() {
      return memory;
    }

    @Override
    public long address() {
      return memory.address();
    }

    @Override
    public long descriptor(int rail) {
      return descriptors.descriptor(rail);
    }

    @Override
    public void give() {
      if (!closed) {
        left.addFirst(this);
      }
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
    void release() {
      registration.end.run();
      arena.close();
    }
  }

  /**
   * None yet.
   *
   * @param registrar registers a block, which is aligned to a page and a multiple of it long; if it
   *     throws, nothing stays registered
   */
  public RegisteredBuffers(
      String label, BufferShape shape, Function<MemorySegment, Registration> registrar) {
    this.label = label;
    this.shape = shape;
    this.registrar = registrar;
  }

  /**
   * Takes a buffer.
   *
   * @return null if all that there may be were taken
   * @throws RuntimeException the registrar's, if a block that is needed cannot be registered: there
   *     are as many as before
   * @throws IllegalStateException if this is closed
   */
  public @Nullable Buffer take() {
    reserve(1);
    return left.pollFirst();
  }

  /** Grows until so many buffers are left, or the limit is reached. Throws as {@link #take}. */
  public void reserve(int buffers) {
    if (closed) {
      throw new IllegalStateException(label + " is closed");
    }
    while (left.size() < buffers && made < shape.most()) {
      grow();
    }
  }

  private void grow() {
    Block block = open();
    blocks.add(block);
    int bytes = shape.bufferBytes();
    // The last block may have room for more than the limit lets there be.
    for (long at = 0;
        at + shape.strideBytes() <= block.memory.byteSize() && made < shape.most();
        at += shape.strideBytes()) {
      made++;
      left.addLast(new Buffer(block.memory.asSlice(at, bytes), block.registration.descriptors));
    }
  }

  private Block open() {
    Arena arena = Arena.ofShared();
    try {
      MemorySegment memory = arena.allocate(shape.blockBytes(), shape.pageBytes());
      return new Block(arena, memory, registrar.apply(memory));
    } catch (RuntimeException | Error refused) {
      arena.close();
      throw refused;
    }
  }

  /**
   * Closes it, whatever was taken; a second call does nothing.
   *
   * @throws RuntimeException the first of the registrations' that could not be closed, with the
   *     others suppressed; the memory of those stays mapped, and calling again tries them again
   */
  public void abandon() {
    closed = true;
    left.clear();
    CloseSteps steps = new CloseSteps();
    for (int i = blocks.size() - 1; i >= 0; i--) {
      if (steps.step(blocks.get(i)::release)) {
        blocks.remove(i);
      }
    }
    steps.end();
  }
}

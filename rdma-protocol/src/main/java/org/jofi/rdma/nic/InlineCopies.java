package org.jofi.rdma.nic;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.function.Function;
import org.jofi.rdma.memory.BufferShape;
import org.jofi.rdma.memory.RegisteredBuffers;
import org.jofi.rdma.memory.RegisteredBuffers.Buffer;
import org.jofi.rdma.operation.AddressSpace;
import org.jofi.rdma.operation.InlineCopy;
import org.jofi.rdma.operation.OperationSink;
import org.jspecify.annotations.Nullable;

/** Copies of what is written inline, in memory that is registered on the data rails. */
public final class InlineCopies {

  private static final int ALIGNMENT = 64;
  private static final int GROWTH = 64;
  private static final int MOST = 4096;

  private final RegisteredBuffers buffers;
  private final ArrayDeque<Copy> free = new ArrayDeque<>();
  private boolean abandoned;

  public InlineCopies(
      String label,
      int pageBytes,
      Function<MemorySegment, RegisteredBuffers.Registration> registrar) {
    buffers =
        new RegisteredBuffers(
            "inline copies of " + label,
            new BufferShape(OperationSink.INLINE_BYTES, ALIGNMENT, GROWTH, MOST, pageBytes),
            registrar);
  }

  private final class Copy implements InlineCopy {
    private final Buffer buffer;

    Copy(Buffer buffer) {
      this.buffer = buffer;
    }

    @Override
    public long address() {
      return buffer.memory().address();
    }

    @Override
    public long descriptor(int rail) {
      return buffer.descriptors().descriptor(rail);
    }

    @Override
    public void give() {
      if (!abandoned) {
        free.addLast(this);
      }
    }
  }

  public @Nullable InlineCopy take(long address, int lengthBytes) {
    Copy copy = free.pollLast();
    if (copy == null) {
      Buffer buffer = buffers.take();
      if (buffer == null) {
        return null;
      }
      copy = new Copy(buffer);
    }
    MemorySegment.copy(AddressSpace.ALL, address, copy.buffer.memory(), 0, lengthBytes);
    return copy;
  }

  /** Frees the memory, when nothing can use it any more; a second call does nothing. */
  public void abandon() {
    abandoned = true;
    free.clear();
    buffers.abandon();
  }
}

package org.jofi.transport;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Objects;
import org.jofi.fabric.DmaBuf;
import org.jofi.fabric.MemoryKind;
import org.jspecify.annotations.Nullable;

/**
 * A range of memory that can be registered. It does not own the memory, but keeps the segment that
 * it is of reachable. Immutable; any thread.
 *
 * <p>What it is of decides whether its registration can be kept for the next use (see {@link
 * CacheOptions}): memory of an arena as long as that is open, device memory as long as its driver
 * says that it is the same allocation. Memory by address, and of the global arena, is registered
 * while somebody holds the registration.
 */
public final class Memory {
  private final MemoryKind kind;
  private final int device;
  private final long address;
  private final long lengthBytes;
  private final @Nullable DmaBuf dmaBuf;
  private final @Nullable MemorySegment segment;

  private Memory(
      MemoryKind kind,
      int device,
      long address,
      long lengthBytes,
      @Nullable DmaBuf dmaBuf,
      @Nullable MemorySegment segment) {
    this.kind = Objects.requireNonNull(kind);
    this.device = device;
    this.address = address;
    this.lengthBytes = lengthBytes;
    this.dmaBuf = dmaBuf;
    this.segment = segment;
    if (lengthBytes < 1) {
      throw new IllegalArgumentException("cannot register %d bytes".formatted(lengthBytes));
    }
    if (address == 0 && dmaBuf == null) {
      throw new IllegalArgumentException("cannot register memory at the null address");
    }
    if (device < 0 || (kind == MemoryKind.HOST && device != 0)) {
      throw new IllegalArgumentException("%s memory has no device %d".formatted(kind, device));
    }
  }

  /**
   * {@return host memory of a segment} An arena that is closed by hand must stay open until its
   * memory's registration is closed and its requests are over; {@link Transport#openArena} sees to
   * that.
   *
   * @param segment kept reachable by the result
   * @throws IllegalArgumentException if the segment is empty, or on the Java heap, where objects
   *     move
   */
  public static Memory of(MemorySegment segment) {
    if (!segment.isNative()) {
      throw new IllegalArgumentException(
          "cannot register heap memory, which the collector moves; use Arena.allocate");
    }
    return new Memory(MemoryKind.HOST, 0, segment.address(), segment.byteSize(), null, segment);
  }

  /**
   * {@return host memory of a direct buffer, from its position to its limit} Each call makes
   * another allocation of it, so make it once where the registration is to be kept.
   *
   * @param direct its position and limit stay as they are
   * @throws IllegalArgumentException if nothing remains in the buffer, or it is on the Java heap
   */
  public static Memory of(ByteBuffer direct) {
    return of(MemorySegment.ofBuffer(direct));
  }

  /**
   * {@return host memory by address, which its owner keeps}
   *
   * @param address its first byte, not 0
   * @param lengthBytes its length, 1 or more
   */
  public static Memory host(long address, long lengthBytes) {
    return new Memory(MemoryKind.HOST, 0, address, lengthBytes, null, null);
  }

  /**
   * {@return device memory by address, of this process}
   *
   * @param kind where it lives, such as {@link MemoryKind#CUDA}
   * @param device ordinal of the GPU
   * @param address its first byte, on the device; not 0
   * @param lengthBytes its length, 1 or more
   */
  public static Memory device(MemoryKind kind, int device, long address, long lengthBytes) {
    return new Memory(kind, device, address, lengthBytes, null, null);
  }

  /**
   * {@return this memory, registered through a dma-buf, whose descriptor the caller may close when
   * it is registered}
   *
   * @param piece begins at this memory's first byte
   */
  public Memory through(DmaBuf piece) {
    return new Memory(kind, device, address, lengthBytes, piece, segment);
  }

  /** {@return this memory by address: its owner keeps it} */
  public Memory withoutSegment() {
    return new Memory(kind, device, address, lengthBytes, dmaBuf, null);
  }

  /** {@return where it lives} */
  public MemoryKind kind() {
    return kind;
  }

  /** {@return the ordinal of the GPU for device memory; 0 for host memory} */
  public int device() {
    return device;
  }

  /** {@return the address of its first byte} */
  public long address() {
    return address;
  }

  /** {@return its length, 1 or more} */
  public long lengthBytes() {
    return lengthBytes;
  }

  /** {@return the dma-buf to register it through; null to register it by address} */
  public @Nullable DmaBuf dmaBuf() {
    return dmaBuf;
  }

  /** {@return the segment that it is; null if its owner keeps the memory by other means} */
  public @Nullable MemorySegment segment() {
    return segment;
  }

  @Override
  public String toString() {
    return "%d bytes of %s memory at 0x%x".formatted(lengthBytes, kind, address);
  }
}

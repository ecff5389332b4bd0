package org.jofi.transport;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jofi.fabric.DmaBuf;
import org.jofi.fabric.MemoryKind;
import org.jspecify.annotations.Nullable;

/**
 * A range of memory to register.
 *
 * @param kind where it lives
 * @param device ordinal of the GPU for device memory; 0 for host memory
 * @param address its first byte
 * @param lengthBytes its length, 1 or more
 * @param dmaBuf the dma-buf to register it through, or null to register it by address
 * @param segment the segment that it is, which a registration keeps reachable; null if its owner
 *     keeps the memory by other means
 */
public record Buffer(
    MemoryKind kind,
    int device,
    long address,
    long lengthBytes,
    @Nullable DmaBuf dmaBuf,
    @Nullable MemorySegment segment) {

  public Buffer {
    Objects.requireNonNull(kind);
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

  /** Host memory by address. */
  public static Buffer host(long address, long lengthBytes) {
    return new Buffer(MemoryKind.HOST, 0, address, lengthBytes, null, null);
  }

  /**
   * Host memory of a segment. A registration keeps the segment reachable, so the memory of an
   * automatic arena stays until it is deregistered, and its requests and the peer are done with it.
   * The caller closes no other arena before that.
   *
   * @throws IllegalArgumentException if the segment is on the Java heap, where objects move
   */
  public static Buffer host(MemorySegment segment) {
    if (!segment.isNative()) {
      throw new IllegalArgumentException(
          "cannot register heap memory, which the collector moves; use Arena.allocate");
    }
    return new Buffer(MemoryKind.HOST, 0, segment.address(), segment.byteSize(), null, segment);
  }

  /** Device memory by address. */
  public static Buffer device(MemoryKind kind, int device, long address, long lengthBytes) {
    return new Buffer(kind, device, address, lengthBytes, null, null);
  }

  /** This memory by address: its owner keeps it. */
  public Buffer withoutSegment() {
    return new Buffer(kind, device, address, lengthBytes, dmaBuf, null);
  }

  /** This memory, registered through a dma-buf. */
  public Buffer through(DmaBuf piece) {
    return new Buffer(kind, device, address, lengthBytes, piece, segment);
  }
}

package org.jofi.mr.registration;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jofi.fabric.DmaBuf;
import org.jofi.fabric.MemoryKind;
import org.jofi.fabric.RegionRequest;
import org.jspecify.annotations.Nullable;

/**
 * A range of memory, and the allocation that it is part of. Immutable; any thread. It does not own
 * the memory, but keeps its scope reachable, and so the memory of an automatic arena.
 *
 * <p><b>The allocation</b> distinguishes memory that was freed from memory that was allocated later
 * at the same address. It is known in either of two ways. A <b>scope</b> is that of a segment's
 * arena: an arena frees all of its memory at once when it closes, so as long as its scope is alive
 * its addresses mean the same memory. An <b>id</b> is a number that no two allocations of one kind
 * and device ever share, such as CU_POINTER_ATTRIBUTE_BUFFER_ID of CUDA memory. With neither, a
 * registration is shared while it is leased, and closed when the last lease ends: nobody could tell
 * later whether the memory is still the same.
 *
 * @param kind where the memory lives
 * @param device ordinal of the GPU for device memory, 0 to 65535; 0 for host memory
 * @param allocationId id of the allocation, or {@link #UNKNOWN_ALLOCATION}
 * @param scope scope of the arena that it is from; null if there is none, or it is the global one,
 *     which {@link MemorySegment#ofAddress} also has
 * @param address its first byte, as a virtual address; also required with a dma-buf
 * @param lengthBytes its length, at least 1
 * @param dmaBuf the dma-buf to register it through, or null to register it by address. The cache
 *     does not compare file descriptors: each export of the same memory has another one.
 */
public record BufferRange(
    MemoryKind kind,
    int device,
    long allocationId,
    MemorySegment.@Nullable Scope scope,
    long address,
    long lengthBytes,
    @Nullable DmaBuf dmaBuf) {

  /** The allocation is not known. */
  public static final long UNKNOWN_ALLOCATION = 0;

  private static final MemorySegment.Scope GLOBAL = Arena.global().scope();

  /** Upper bound of GPU ordinals, exclusive. */
  static final int MAX_DEVICES = 1 << 16;

  /**
   * @throws IllegalArgumentException if the range is empty, at address 0 or wraps around, the
   *     device is out of range, or it has both a scope and an id
   */
  public BufferRange {
    Objects.requireNonNull(kind);
    if (lengthBytes < 1) {
      throw new IllegalArgumentException("a range has 1 byte or more, not " + lengthBytes);
    }
    if (address == 0) {
      throw new IllegalArgumentException("a range needs an address; it is also what peers go by");
    }
    if (Long.compareUnsigned(address + lengthBytes - 1, address) < 0) {
      throw new IllegalArgumentException(
          "range 0x%x + %d bytes wraps around".formatted(address, lengthBytes));
    }
    if (device < 0 || device >= MAX_DEVICES || (kind == MemoryKind.HOST && device != 0)) {
      throw new IllegalArgumentException("%s memory has no device %d".formatted(kind, device));
    }
    if (scope != null && allocationId != UNKNOWN_ALLOCATION) {
      throw new IllegalArgumentException("memory of an arena has no id, which is " + allocationId);
    }
  }

  /** Host memory by address, of an unknown allocation. */
  public static BufferRange host(long address, long lengthBytes) {
    return new BufferRange(
        MemoryKind.HOST, 0, UNKNOWN_ALLOCATION, null, address, lengthBytes, null);
  }

  /**
   * Host memory of a segment, which its scope identifies. The caller keeps the segment alive while
   * it leases a registration of it.
   *
   * @throws IllegalArgumentException if the segment is on the Java heap, whose objects move
   */
  public static BufferRange host(MemorySegment segment) {
    if (!segment.isNative()) {
      throw new IllegalArgumentException(
          "cannot register heap memory, which the collector moves; use Arena.allocate");
    }
    return new BufferRange(
        MemoryKind.HOST,
        0,
        UNKNOWN_ALLOCATION,
        identifying(segment.scope()),
        segment.address(),
        segment.byteSize(),
        null);
  }

  /** Host memory of an arena with that scope, which identifies it. */
  public static BufferRange host(MemorySegment.Scope arena, long address, long lengthBytes) {
    return new BufferRange(
        MemoryKind.HOST, 0, UNKNOWN_ALLOCATION, arena, address, lengthBytes, null);
  }

  /** The scope if it identifies an allocation; null for the global one, which says nothing. */
  public static MemorySegment.@Nullable Scope identifying(MemorySegment.Scope scope) {
    return GLOBAL.equals(scope) ? null : scope;
  }

  /** Memory of a GPU by address. */
  public static BufferRange device(
      MemoryKind kind, int device, long allocationId, long address, long lengthBytes) {
    return new BufferRange(kind, device, allocationId, null, address, lengthBytes, null);
  }

  /** This range, as part of the allocation with this id. */
  public BufferRange ofAllocation(long id) {
    return new BufferRange(kind, device, id, null, address, lengthBytes, dmaBuf);
  }

  /** This range, registered through a dma-buf. */
  public BufferRange through(DmaBuf piece) {
    return new BufferRange(kind, device, allocationId, scope, address, lengthBytes, piece);
  }

  /**
   * This range as of an unknown allocation: its registration serves nobody who knows the
   * allocation, and is closed with its last lease.
   */
  public BufferRange ofUnknownAllocation() {
    return ofAllocation(UNKNOWN_ALLOCATION);
  }

  /** This range without its scope, which it then does not keep reachable. */
  public BufferRange withoutScope() {
    return ofAllocation(allocationId);
  }

  /** Whether its allocation is known. */
  public boolean isKnown() {
    return allocationId != UNKNOWN_ALLOCATION || scope != null;
  }

  /** Whether both are of the same allocation, or both of an unknown one. */
  @SuppressWarnings("ReferenceEquality") // Two segments of one direct buffer have equal scopes.
  public boolean isOfSameAllocation(BufferRange other) {
    return allocationId == other.allocationId && scope == other.scope;
  }

  /** The request that registers this range. */
  public RegionRequest request(long access, long key) {
    return new RegionRequest(kind, device, address, lengthBytes, access, key, dmaBuf);
  }

  /** Kind, device and range, for error messages. */
  @Override
  public String toString() {
    return "%s%s [0x%x, +%d)%s"
        .formatted(
            kind,
            kind == MemoryKind.HOST ? "" : " " + device,
            address,
            lengthBytes,
            dmaBuf == null ? "" : " through dma-buf " + dmaBuf.fd());
  }
}

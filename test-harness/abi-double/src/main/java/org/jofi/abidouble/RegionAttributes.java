package org.jofi.abidouble;

import static org.jofi.libfabric.bindings.LibfabricConstants.FI_HMEM_SYSTEM;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import org.jofi.fabric.Access;
import org.jofi.libfabric.bindings.fi_mr_attr;
import org.jofi.libfabric.bindings.iovec;
import org.jspecify.annotations.Nullable;

/**
 * A struct fi_mr_attr with all that it leads to, as it was when it was given: the caller's memory
 * may be gone when the real registration is made.
 */
final class RegionAttributes {
  private final Arena arena = Arena.ofAuto();
  private final MemorySegment attributes;
  private final @Nullable MemorySegment range;
  private final long flags;

  private RegionAttributes(MemorySegment pointer, long flags) {
    this.flags = flags;
    attributes = copy(arena, pointer, fi_mr_attr.sizeof());
    MemorySegment ranges = fi_mr_attr.mr_iov(attributes);
    range =
        fi_mr_attr.iov_count(attributes) == 1 && !Pointers.isNull(ranges)
            ? copy(arena, ranges, iovec.sizeof())
            : null;
  }

  private static MemorySegment copy(SegmentAllocator to, MemorySegment from, long bytes) {
    return to.allocate(bytes, Long.BYTES).copyFrom(Pointers.memory(from.address(), bytes));
  }

  static RegionAttributes read(MemorySegment pointer, long flags) {
    if (Pointers.isNull(pointer)) {
      throw new IllegalArgumentException("no fi_mr_attr");
    }
    return new RegionAttributes(pointer, flags);
  }

  /** What makes no sense about it; null if it is in order. */
  @Nullable String wrong(boolean localDescriptors) {
    if (flags != 0) {
      return "flags 0x%x".formatted(flags);
    }
    if (range == null) {
      return "iov_count %d, mr_iov 0x%x"
          .formatted(fi_mr_attr.iov_count(attributes), fi_mr_attr.mr_iov(attributes).address());
    }
    if (address() == 0 || lengthBytes() <= 0 || address() + lengthBytes() < address()) {
      return "range " + this;
    }
    if (access() == 0 || (access() & ~Access.ALL) != 0) {
      return "access " + Access.describe(access());
    }
    if (fi_mr_attr.offset(attributes) != 0) {
      return "offset is reserved";
    }
    if (fi_mr_attr.auth_key_size(attributes) != 0
        || !Pointers.isNull(fi_mr_attr.auth_key(attributes))) {
      return "an authorization key, of which none was negotiated";
    }
    if (fi_mr_attr.iface(attributes) != FI_HMEM_SYSTEM()) {
      return "iface %d without FI_HMEM".formatted(fi_mr_attr.iface(attributes));
    }
    return tail();
  }

  /** Fields that newer libraries read: a caller who knows nothing of them leaves them zero. */
  private @Nullable String tail() {
    return Pointers.isNull(fi_mr_attr.hmem_data(attributes))
            && fi_mr_attr.page_size(attributes) == 0
            && Pointers.isNull(fi_mr_attr.base_mr(attributes))
            && fi_mr_attr.sub_mr_cnt(attributes) == 0
        ? null
        : "hmem_data, page_size, base_mr or sub_mr_cnt is set";
  }

  long address() {
    return range == null ? 0 : iovec.iov_base(range).address();
  }

  long lengthBytes() {
    return range == null ? 0 : iovec.iov_len(range);
  }

  long access() {
    return fi_mr_attr.access(attributes);
  }

  /** Whether a NIC, local or remote operations, writes to the range. */
  boolean isWritten() {
    return (access() & (Access.READ | Access.RECV | Access.REMOTE_WRITE)) != 0;
  }

  long requestedKey() {
    return fi_mr_attr.requested_key(attributes);
  }

  MemorySegment context() {
    return fi_mr_attr.context(attributes);
  }

  long flags() {
    return flags;
  }

  /** The struct for the real provider, with that key. */
  MemorySegment withKey(long key) {
    fi_mr_attr.requested_key(attributes, key);
    if (range != null) {
      fi_mr_attr.mr_iov(attributes, range);
    }
    return attributes;
  }

  @Override
  public String toString() {
    return "%d bytes at 0x%x for %s".formatted(lengthBytes(), address(), Access.describe(access()));
  }
}

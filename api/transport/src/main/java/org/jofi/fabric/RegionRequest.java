package org.jofi.fabric;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Which memory to register, and for which access: struct fi_mr_attr of fi_mr(3).
 *
 * @param kind where the memory lives
 * @param device ordinal of the GPU for device memory; 0 for host memory
 * @param address its first byte: the virtual address in this process or on the device
 * @param lengthBytes its length, at least 1
 * @param access bits of {@link Access}, at least one
 * @param requestedKey the key, where the application chooses it ({@link KeyOwner#APPLICATION});
 *     unique among the domain's open regions. Ignored where the provider chooses.
 * @param dmaBuf the dma-buf to register it through, or null to register it by address
 */
public record RegionRequest(
    MemoryKind kind,
    int device,
    long address,
    long lengthBytes,
    long access,
    long requestedKey,
    @Nullable DmaBuf dmaBuf) {

  /**
   * Checks the range and the access.
   *
   * @throws IllegalArgumentException if the length is below 1, the address is 0 and there is no
   *     dma-buf, the range wraps around, or the access is none or has unknown bits
   */
  public RegionRequest {
    Objects.requireNonNull(kind);
    if (lengthBytes < 1) {
      throw new IllegalArgumentException("cannot register %d bytes".formatted(lengthBytes));
    }
    if (address == 0 && dmaBuf == null) {
      throw new IllegalArgumentException("cannot register memory at the null address");
    }
    if (address + lengthBytes - 1 < 0 != address < 0) {
      throw new IllegalArgumentException(
          "range 0x%x + %d bytes wraps around".formatted(address, lengthBytes));
    }
    if (access == 0 || (access & ~Access.ALL) != 0) {
      throw new IllegalArgumentException(
          "cannot register for access %s".formatted(Access.describe(access)));
    }
  }

  /**
   * {@return a request for host memory by address}
   *
   * @param address its first byte: the virtual address in this process, not 0
   * @param lengthBytes its length, at least 1
   * @param access bits of {@link Access}, at least one
   */
  public static RegionRequest host(long address, long lengthBytes, long access) {
    return new RegionRequest(MemoryKind.HOST, 0, address, lengthBytes, access, 0, null);
  }

  /**
   * {@return a request for host memory of a segment, which the caller keeps alive while it is
   * registered}
   *
   * @param segment native memory, of which all is registered; at least 1 byte
   * @param access bits of {@link Access}, at least one
   * @throws IllegalArgumentException if the segment is on the Java heap, where objects move
   */
  public static RegionRequest host(MemorySegment segment, long access) {
    if (!segment.isNative()) {
      throw new IllegalArgumentException(
          "cannot register heap memory, which the collector moves; use Arena.allocate");
    }
    return host(segment.address(), segment.byteSize(), access);
  }

  /**
   * {@return a request for device memory by address}
   *
   * @param kind where the memory lives
   * @param device ordinal of the GPU
   * @param address its first byte: the virtual address on the device, not 0
   * @param lengthBytes its length, at least 1
   * @param access bits of {@link Access}, at least one
   */
  public static RegionRequest device(
      MemoryKind kind, int device, long address, long lengthBytes, long access) {
    return new RegionRequest(kind, device, address, lengthBytes, access, 0, null);
  }

  /**
   * {@return this request with a key that the application chose}
   *
   * @param key unique among the domain's open regions; ignored where the provider chooses
   */
  public RegionRequest withRequestedKey(long key) {
    return new RegionRequest(kind, device, address, lengthBytes, access, key, dmaBuf);
  }

  /**
   * {@return this request through a dma-buf}
   *
   * @param piece the dma-buf, and where in it the memory of this request starts
   */
  public RegionRequest withDmaBuf(DmaBuf piece) {
    return new RegionRequest(kind, device, address, lengthBytes, access, requestedKey, piece);
  }

  /** Kind, device, range, access and dma-buf, for error messages. */
  @Override
  public String toString() {
    return "%s%s [0x%x, +%d) for %s%s"
        .formatted(
            kind,
            kind == MemoryKind.HOST ? "" : " " + device,
            address,
            lengthBytes,
            Access.describe(access),
            dmaBuf == null ? "" : " through dma-buf " + dmaBuf.fd());
  }
}

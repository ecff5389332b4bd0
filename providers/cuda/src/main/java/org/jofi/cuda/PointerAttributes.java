package org.jofi.cuda;

/**
 * What the driver knows about an address: cuPointerGetAttribute.
 *
 * @param kind what kind of memory it is in
 * @param device ordinal of the device that it belongs to
 * @param allocationId the driver's number for the allocation (CU_POINTER_ATTRIBUTE_BUFFER_ID). It
 *     is never used again in this process, so that two allocations at the same address have
 *     different ones
 * @param base first byte of the allocation
 * @param lengthBytes length of the allocation
 */
public record PointerAttributes(
    Kind kind, int device, long allocationId, long base, long lengthBytes) {

  /** CU_POINTER_ATTRIBUTE_MEMORY_TYPE, and whether it is managed. */
  public enum Kind {
    /** Pinned host memory. */
    HOST,
    /** GPU memory. */
    DEVICE,
    /** Managed memory, which moves; it cannot be registered with a NIC. */
    MANAGED
  }
}

package org.jofi.fabric;

/** How a peer names a byte of a region: fi_mr(3), FI_MR_VIRT_ADDR. */
public enum Addressing {
  /** By its virtual address in the owner's process. */
  VIRTUAL,
  /** By its distance in bytes from the region's first byte. */
  OFFSET
}

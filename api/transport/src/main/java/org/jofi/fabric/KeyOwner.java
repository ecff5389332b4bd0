package org.jofi.fabric;

/** Who chooses a region's key: fi_mr(3), FI_MR_PROV_KEY. */
public enum KeyOwner {
  /** The provider; {@link MemoryRegion#key()} returns it. */
  PROVIDER,
  /** The application; {@link RegionRequest#requestedKey()} must be unique within the domain. */
  APPLICATION
}

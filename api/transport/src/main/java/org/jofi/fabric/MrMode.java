package org.jofi.fabric;

/** Demands that a provider makes of registration: the mr_mode bits of fi_mr(3) and fi_domain(3). */
public enum MrMode {
  /** Local buffers need a descriptor too. */
  LOCAL,
  /** Keys are longer than 64 bits. */
  RAW,
  /** A peer addresses a region by virtual address, not by offset from its base. */
  VIRT_ADDR,
  /** Memory must be backed by pages when it is registered. */
  ALLOCATED,
  /** The provider chooses the key. */
  PROV_KEY,
  /** The application reports changes of the mapping. */
  MMU_NOTIFY,
  /** Regions that raise target events are bound to a counter or endpoint. */
  RMA_EVENT,
  /** A region is bound to one endpoint and then enabled (HPE Slingshot). */
  ENDPOINT,
  /** Device memory is registered with its interface named. */
  HMEM,
  /** Regions for collectives are marked so. */
  COLLECTIVE
}

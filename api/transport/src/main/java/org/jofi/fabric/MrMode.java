package org.jofi.fabric;

/**
 * What a provider requires of memory registration: the mr_mode bits of fi_mr(3) and fi_domain(3).
 */
public enum MrMode {
  /** Local buffers have to be registered, too, and calls take their descriptor. */
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
  /** A region that generates events at the target has to be bound to a counter or an endpoint. */
  RMA_EVENT,
  /** A region is bound to one endpoint and then enabled (HPE Slingshot). */
  ENDPOINT,
  /** The registration of device memory has to name the memory's kind. */
  HMEM,
  /** A region for collectives has to be registered as such. */
  COLLECTIVE
}

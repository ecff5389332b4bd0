package org.jofi.fabric;

/** Options of an endpoint: fi_endpoint(3), fi_setopt. Values are longs; booleans are 0 and 1. */
public enum EndpointOption {
  /**
   * Least free space in a multi-receive buffer, in bytes; with less, the provider releases the
   * buffer.
   */
  MIN_MULTI_RECV,
  /** Most private data in a connection request, in bytes; read only. */
  CM_DATA_SIZE,
  /**
   * Whether device memory is accessed peer to peer: 0 the provider decides (the default), 1
   * required, 2 preferred, 3 disabled.
   */
  HMEM_P2P,
  /** Whether the provider may call the CUDA API (boolean). */
  CUDA_API_PERMITTED,
  /** Whether the provider may use shared memory between processes of a host (boolean). */
  SHARED_MEMORY_PERMITTED,
  /** Largest message, in bytes. */
  MAX_MSG_SIZE,
  /** Largest RMA operation, in bytes. */
  MAX_RMA_SIZE,
  /** Largest injected message, in bytes. */
  INJECT_MSG_SIZE,
  /** Largest injected RMA write, in bytes. */
  INJECT_RMA_SIZE
}

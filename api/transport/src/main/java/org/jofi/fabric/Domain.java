package org.jofi.fabric;

/**
 * One NIC, opened: fi_domain(3). Any thread may open, register and close here; the opener closes
 * the domain after everything in it.
 */
public interface Domain extends AutoCloseable {

  /** How the NIC was negotiated. */
  FabricInfo info();

  /**
   * Opens a table of peers: fi_av(3). The caller closes it, after the endpoints that use it.
   *
   * @param expectedPeers a hint for its size; it grows
   * @throws FabricException if the provider refuses
   */
  AddressVector openAddressVector(int expectedPeers);

  /**
   * Opens a completion queue: fi_cq(3). The caller closes it, after the endpoints bound to it.
   *
   * @param depth completions that it holds before posting is refused or it overruns
   * @param contexts how many context slots, 0 to {@code contexts - 1}, operations may name; see
   *     {@link CompletionQueue}
   * @throws IllegalArgumentException if either is below 1
   * @throws FabricException if the provider refuses
   */
  CompletionQueue openCompletionQueue(int depth, int contexts);

  /**
   * Opens an endpoint, binds it to its queues and its address vector, sets its options and enables
   * it: fi_endpoint(3). The caller closes it, before its queues and its address vector; in {@link
   * RegistrationScope#ENDPOINT} scope after the regions bound to it, in {@link
   * RegistrationScope#DOMAIN} scope before the regions that receives are posted in.
   *
   * @throws FabricException if the provider refuses any step; nothing stays open then
   * @throws IllegalArgumentException if a queue or the address vector is of another domain
   */
  Endpoint openEndpoint(EndpointRequest request);

  /**
   * Registers memory that is usable at once: fi_mr_regattr(3). For NICs that negotiated {@link
   * RegistrationScope#DOMAIN} scope. The memory must stay mapped until the region is closed.
   *
   * @throws IllegalStateException if this NIC negotiated FI_MR_ENDPOINT: use {@link
   *     #registerForEndpoint}; or if the domain is closed
   * @throws IllegalArgumentException if the request is malformed, or host memory is not mapped; of
   *     mapped memory only the first and last byte are tried, and only by reading
   * @throws FabricException if the provider refuses: {@code ENOMEM} or {@code ENOSPC} out of
   *     resources, {@code ENOKEY} requested key in use, {@code EKEYREJECTED} key out of range,
   *     {@code EINVAL}, {@code ENOSYS} memory kind not supported
   */
  MemoryRegion register(RegionRequest request);

  /**
   * First of three steps for NICs that negotiated {@link RegistrationScope#ENDPOINT} scope:
   * fi_mr_regattr(3), then {@link UnboundRegion#bind}, then {@link BoundRegion#enable}.
   *
   * @throws IllegalStateException if this NIC did not negotiate FI_MR_ENDPOINT: use {@link
   *     #register}; or if the domain is closed
   * @throws IllegalArgumentException as {@link #register}
   * @throws FabricException as {@link #register}
   */
  UnboundRegion registerForEndpoint(RegionRequest request);

  /**
   * Closes it; again is a no-op.
   *
   * @throws FabricException with {@code EBUSY}, naming them, while anything in it is open
   */
  @Override
  void close();
}

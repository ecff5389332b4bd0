package org.jofi.fabric;

/**
 * One open NIC: fi_domain(3). Any thread may open, register and close things here. The code that
 * opened the domain closes it, after everything that was opened in it.
 */
public interface Domain extends AutoCloseable {

  /** {@return the info that the NIC was opened with} */
  FabricInfo info();

  /**
   * Opens a table of peers: fi_av(3). The caller closes it, after the endpoints that use it.
   *
   * @param expectedPeers a hint for its size; the table grows if needed
   * @return the table, still empty
   * @throws FabricException if the provider refuses
   */
  AddressVector openAddressVector(int expectedPeers);

  /**
   * Opens a completion queue: fi_cq(3). The caller closes it, after the endpoints bound to it.
   *
   * @param depth how many completions it holds; with more, the provider refuses to post or the
   *     queue overruns
   * @param contexts how many context slots, 0 to {@code contexts - 1}, operations may name; see
   *     {@link CompletionQueue}
   * @return the queue, for endpoints of this domain
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
   * @param request its name, queues, address vector and options
   * @return the endpoint, enabled
   * @throws FabricException if the provider refuses any step; nothing stays open then
   * @throws IllegalArgumentException if a queue or the address vector belongs to another domain
   */
  Endpoint openEndpoint(EndpointRequest request);

  /**
   * Registers memory that is usable at once: fi_mr_regattr(3). For NICs that negotiated {@link
   * RegistrationScope#DOMAIN} scope. The memory must stay mapped until the region is closed.
   *
   * @param request which memory, and for which access
   * @return the region, which the caller closes
   * @throws IllegalStateException if this NIC negotiated FI_MR_ENDPOINT: use {@link
   *     #registerForEndpoint}; or if the domain is closed
   * @throws IllegalArgumentException if the request is malformed, or host memory is not mapped;
   *     only the first and the last byte are checked, by reading them
   * @throws FabricException if the provider refuses: {@code ENOMEM} or {@code ENOSPC} if out of
   *     resources, {@code ENOKEY} if the requested key is in use, {@code EKEYREJECTED} if it is out
   *     of range, {@code EINVAL} or {@code ENOSYS} if the kind of memory is not supported
   */
  MemoryRegion register(RegionRequest request);

  /**
   * The first of three steps to register memory, for NICs that negotiated {@link
   * RegistrationScope#ENDPOINT} scope: fi_mr_regattr(3), then {@link UnboundRegion#bind}, then
   * {@link BoundRegion#enable}.
   *
   * @param request which memory, and for which access
   * @return the region, which the caller binds or closes
   * @throws IllegalStateException if this NIC did not negotiate FI_MR_ENDPOINT: use {@link
   *     #register}; or if the domain is closed
   * @throws IllegalArgumentException as {@link #register}
   * @throws FabricException as {@link #register}
   */
  UnboundRegion registerForEndpoint(RegionRequest request);

  /**
   * Closes it; a second call does nothing.
   *
   * @throws FabricException with {@code EBUSY} while anything in it is open; the message names what
   */
  @Override
  void close();
}

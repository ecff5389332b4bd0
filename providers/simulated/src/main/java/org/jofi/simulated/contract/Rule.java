package org.jofi.simulated.contract;

/** A contract between a program and the fabric, and where it is documented. */
public enum Rule {
  /** Memory is mapped when it is registered. */
  MR_MAPPED("fi_mr(3), FI_MR_ALLOCATED", "memory must be mapped when it is registered"),
  /** A region is registered in the negotiated scope. */
  MR_SCOPE(
      "fi_mr(3), FI_MR_ENDPOINT",
      "a region is bound and enabled if FI_MR_ENDPOINT was negotiated, and only then"),
  /** A region is bound once. */
  MR_BIND_ONCE("fi_mr(3), fi_mr_bind", "a region is bound to exactly one endpoint, once"),
  /** A region is bound to an open and enabled endpoint of its own domain. */
  MR_BIND_ENDPOINT(
      "fi_mr(3), fi_mr_bind; fi_cxi(7)",
      "a region is bound to an enabled endpoint of its own domain"),
  /** A region is enabled once, while its endpoint is open. */
  MR_ENABLE_ONCE("fi_mr(3), fi_mr_enable", "a bound region is enabled once"),
  /** Keys that the application chooses are unique. */
  MR_KEY_UNIQUE(
      "fi_mr(3), requested_key", "a requested key is unique among the domain's open regions"),
  /** Keys that the application chooses are not too long. */
  MR_KEY_SIZE("fi_mr(3), requested_key", "a requested key fits the negotiated mr_key_size"),
  /** Only regions with remote access have a key. */
  MR_KEY_ACCESS("fi_mr(3), fi_mr_key", "only a region with remote access has a key"),
  /** Only negotiated kinds of memory are registered. */
  MR_MEMORY_KIND(
      "fi_mr(3), iface", "device memory is registered only with FI_HMEM and a supported interface"),
  /** No operation uses a region that is closed. */
  MR_CLOSE_IN_USE(
      "fi_mr(3), fi_close; fi_endpoint(3), fi_close",
      "a region closes only when no posted operation uses it"),
  /** Local buffers have a descriptor if the provider requires it. */
  DESCRIPTOR_REQUIRED(
      "fi_mr(3), FI_MR_LOCAL", "a local buffer has a descriptor if FI_MR_LOCAL was negotiated"),
  /** A descriptor is one of an open region. */
  DESCRIPTOR_VALID(
      "fi_mr(3), fi_mr_desc", "a descriptor is that of an open region of the endpoint's domain"),
  /** The descriptor's region covers the buffer. */
  DESCRIPTOR_COVERS("fi_mr(3), fi_mr_desc", "a buffer lies inside the region of its descriptor"),
  /** The descriptor's region allows the access. */
  DESCRIPTOR_ACCESS(
      "fi_mr(3), access", "the descriptor's region was registered for this operation"),
  /** The descriptor's region belongs to this endpoint. */
  DESCRIPTOR_ENDPOINT(
      "fi_mr(3), FI_MR_ENDPOINT", "a region is used only with the endpoint it is bound to"),
  /** Device memory has a descriptor. */
  DEVICE_DESCRIPTOR(
      "fi_mr(3), FI_MR_HMEM", "device memory is used only with its region's descriptor"),
  /** Buffers are mapped. */
  BUFFER_MAPPED("fi_msg(3), fi_rma(3)", "a buffer lies in live memory of the process"),
  /** A buffer is not changed while an operation uses it. */
  BUFFER_STABLE(
      "fi_msg(3), fi_rma(3)", "a source buffer is not changed before the operation completes"),
  /** Context slots are in range. */
  CONTEXT_RANGE("fi_endpoint(3), FI_CONTEXT2", "a context slot is one of the queue's"),
  /** A context slot is used by one operation at a time. */
  CONTEXT_REUSE(
      "fi_endpoint(3), FI_CONTEXT2",
      "a context slot is free again only when it was polled, or its endpoint closed"),
  /** Peers are in the address vector. */
  PEER_KNOWN("fi_av(3)", "a peer is one that was inserted and not removed"),
  /** A peer is removed only when no operation to it is in flight. */
  PEER_REMOVE_IN_FLIGHT(
      "fi_av(3), fi_av_remove", "a peer is removed only when nothing is in flight to it"),
  /** Addresses have the provider's length. */
  ADDRESS_LENGTH("fi_av(3), fi_av_insert", "an address is as long as fi_getname(3) made it"),
  /** Directed receives are used only with their capability. */
  DIRECTED_RECEIVE(
      "fi_getinfo(3), FI_DIRECTED_RECV", "a receive names a peer only with FI_DIRECTED_RECV"),
  /** Only flags are used that the call has. */
  POST_FLAGS("fi_endpoint(3), operation flags", "a flag is one that this call knows"),
  /** Fences are used only with their capability. */
  FENCE("fi_getinfo(3), FI_FENCE", "FI_FENCE is used only with its capability"),
  /** Objects that are used together belong to one domain. */
  SAME_DOMAIN("fi_endpoint(3), fi_ep_bind", "queues and address vectors are of the same domain"),
  /** Children close before their parents. */
  CLOSE_ORDER("fi_domain(3), fi_close", "what an object is used by closes before it"),
  /** Regions close before the endpoint that they are bound to. */
  CLOSE_ENDPOINT_REGIONS(
      "fi_mr(3), fi_close, FI_MR_ENDPOINT", "regions close before the endpoint they are bound to"),
  /** Nothing is used after it was closed. */
  USE_AFTER_CLOSE("fabric(7), fi_close", "a closed object is not used"),
  /** A queue's sink does not poll the queue. */
  POLL_REENTRANT("fi_cq(3)", "a queue is not polled by what receives its completions"),
  /** One thread at a time uses a queue and its endpoints. */
  ONE_THREAD("fi_domain(3), FI_THREAD_COMPLETION", "one thread at a time uses a queue's group");

  private final String manPage;
  private final String text;

  Rule(String manPage, String text) {
    this.manPage = manPage;
    this.text = text;
  }

  /** Where it is documented: man pages and sections. */
  public String manPage() {
    return manPage;
  }

  /** The rule, as a sentence without its full stop. */
  public String text() {
    return text;
  }

  /** Its number, used in arrays and traces. */
  @SuppressWarnings("EnumOrdinal")
  public int number() {
    return ordinal();
  }
}

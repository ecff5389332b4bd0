package org.jofi.simulated;

/** A contract that programs rely on, and where it stands. */
public enum Rule {
  /** Memory is mapped when it is registered. */
  MR_MAPPED("fi_mr(3), FI_MR_ALLOCATED", "memory must be mapped when it is registered"),
  /** Registered in the scope that was negotiated. */
  MR_SCOPE(
      "fi_mr(3), FI_MR_ENDPOINT",
      "a region is bound and enabled if FI_MR_ENDPOINT was negotiated, and only then"),
  /** Bound once. */
  MR_BIND_ONCE("fi_mr(3), fi_mr_bind", "a region is bound to exactly one endpoint, once"),
  /** Bound to an endpoint of its own domain, which is open and enabled. */
  MR_BIND_ENDPOINT(
      "fi_mr(3), fi_mr_bind; fi_cxi(7)",
      "a region is bound to an enabled endpoint of its own domain"),
  /** Enabled once, while its endpoint lives. */
  MR_ENABLE_ONCE("fi_mr(3), fi_mr_enable", "a bound region is enabled once"),
  /** Keys of the application are unique. */
  MR_KEY_UNIQUE(
      "fi_mr(3), requested_key", "a requested key is unique among the domain's open regions"),
  /** Keys of the application fit. */
  MR_KEY_SIZE("fi_mr(3), requested_key", "a requested key fits the negotiated mr_key_size"),
  /** Only what peers may reach has a key. */
  MR_KEY_ACCESS("fi_mr(3), fi_mr_key", "only a region with remote access has a key"),
  /** Only kinds of memory that were negotiated. */
  MR_MEMORY_KIND(
      "fi_mr(3), iface", "device memory is registered only with FI_HMEM and a supported interface"),
  /** Nothing uses a region that closes. */
  MR_CLOSE_IN_USE(
      "fi_mr(3), fi_close; fi_endpoint(3), fi_close",
      "a region closes only when no posted operation uses it"),
  /** Local buffers come with a descriptor. */
  DESCRIPTOR_REQUIRED(
      "fi_mr(3), FI_MR_LOCAL", "a local buffer has a descriptor if FI_MR_LOCAL was negotiated"),
  /** The descriptor is one. */
  DESCRIPTOR_VALID(
      "fi_mr(3), fi_mr_desc", "a descriptor is that of an open region of the endpoint's domain"),
  /** The descriptor's region covers the buffer. */
  DESCRIPTOR_COVERS("fi_mr(3), fi_mr_desc", "a buffer lies inside the region of its descriptor"),
  /** The descriptor's region allows it. */
  DESCRIPTOR_ACCESS(
      "fi_mr(3), access", "the descriptor's region was registered for this operation"),
  /** The descriptor's region belongs to this endpoint. */
  DESCRIPTOR_ENDPOINT(
      "fi_mr(3), FI_MR_ENDPOINT", "a region is used only with the endpoint it is bound to"),
  /** Device memory comes with a descriptor. */
  DEVICE_DESCRIPTOR(
      "fi_mr(3), FI_MR_HMEM", "device memory is used only with its region's descriptor"),
  /** Buffers are mapped. */
  BUFFER_MAPPED("fi_msg(3), fi_rma(3)", "a buffer lies in live memory of the process"),
  /** Buffers stay as they are. */
  BUFFER_STABLE(
      "fi_msg(3), fi_rma(3)", "a source buffer is not changed before the operation completes"),
  /** Slots are in range. */
  CONTEXT_RANGE("fi_endpoint(3), FI_CONTEXT2", "a context slot is one of the queue's"),
  /** Slots are used by one operation at a time. */
  CONTEXT_REUSE(
      "fi_endpoint(3), FI_CONTEXT2", "a context slot is free again only when it was polled"),
  /** Peers are known. */
  PEER_KNOWN("fi_av(3)", "a peer is one that was inserted and not removed"),
  /** Peers are removed when nothing is in flight. */
  PEER_REMOVE_IN_FLIGHT(
      "fi_av(3), fi_av_remove", "a peer is removed only when nothing is in flight to it"),
  /** Addresses have the provider's length. */
  ADDRESS_LENGTH("fi_av(3), fi_av_insert", "an address is as long as fi_getname(3) made it"),
  /** Directed receives where there are any. */
  DIRECTED_RECEIVE(
      "fi_getinfo(3), FI_DIRECTED_RECV", "a receive names a peer only with FI_DIRECTED_RECV"),
  /** Flags exist. */
  POST_FLAGS("fi_endpoint(3), operation flags", "a flag is one that this call knows"),
  /** Fences where there are any. */
  FENCE("fi_getinfo(3), FI_FENCE", "FI_FENCE is used only with its capability"),
  /** Objects of one domain. */
  SAME_DOMAIN("fi_endpoint(3), fi_ep_bind", "queues and address vectors are of the same domain"),
  /** Children close before their parents. */
  CLOSE_ORDER("fi_domain(3), fi_close", "what an object is used by closes before it"),
  /** Regions close before the endpoint that they are bound to. */
  CLOSE_ENDPOINT_REGIONS(
      "fi_mr(3), fi_close, FI_MR_ENDPOINT", "regions close before the endpoint they are bound to"),
  /** Nothing is used after it was closed. */
  USE_AFTER_CLOSE("fabric(7), fi_close", "a closed object is not used"),
  /** A queue is not polled from its own sink. */
  POLL_REENTRANT("fi_cq(3)", "a queue is not polled by what receives its completions"),
  /** One thread at a time. */
  ONE_THREAD("fi_domain(3), FI_THREAD_COMPLETION", "one thread at a time uses a queue's group");

  private final String manPage;
  private final String text;

  Rule(String manPage, String text) {
    this.manPage = manPage;
    this.text = text;
  }

  /** Where it stands: man pages and sections. */
  public String manPage() {
    return manPage;
  }

  /** The rule, as a sentence without its full stop. */
  public String text() {
    return text;
  }

  /** Its number: arrays and traces go by it. */
  @SuppressWarnings("EnumOrdinal")
  int number() {
    return ordinal();
  }
}

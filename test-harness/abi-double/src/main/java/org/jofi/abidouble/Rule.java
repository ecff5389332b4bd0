package org.jofi.abidouble;

/** What the double holds its caller to, with the page that says so. */
public enum Rule {
  /** A region was enabled, or used, that is bound to no endpoint. */
  MISSING_BIND("fi_mr(3), fi_mr_enable: with FI_MR_ENDPOINT bind comes first"),
  /** A region was bound after it was enabled. */
  BIND_AFTER_ENABLE("fi_mr(3), fi_mr_bind: before fi_mr_enable"),
  /** A region was bound a second time. */
  SECOND_ENDPOINT("fi_mr(3), FI_MR_ENDPOINT: a region is bound to one endpoint"),
  /** A region was bound to an endpoint that was not enabled yet, or is closed. */
  ENDPOINT_NOT_ENABLED("fi_mr(3), FI_MR_ENDPOINT: the endpoint is enabled when it is bound"),
  /** Key or descriptor were read before the region was enabled, and used. */
  READ_BEFORE_ENABLE("fi_mr(3), FI_MR_ENDPOINT: no key and no descriptor before fi_mr_enable"),
  /** An endpoint was closed that regions are bound to. */
  REGION_OUTLIVES_ENDPOINT("fi_mr(3): regions bound to an endpoint close before it"),
  /** A descriptor was used on an endpoint that its region is not bound to. */
  OTHER_ENDPOINTS_REGION("fi_mr(3), FI_MR_ENDPOINT: a region serves its endpoint alone"),
  /** A requested key is that of an open region of the domain. */
  KEY_IN_USE("fi_mr(3), fi_mr_reg: -FI_ENOKEY if the key is in use"),
  /** A requested key does not fit into mr_key_size. */
  KEY_TOO_WIDE("fi_domain(3), mr_key_size; fi_cxi(7): -FI_EKEYREJECTED"),
  /** What a registration shall be makes no sense. */
  REGION_ATTRIBUTES("fi_mr(3), struct fi_mr_attr"),
  /** A range was registered that is not mapped, or not for that access. */
  NOT_ALLOCATED("fi_mr(3), FI_MR_ALLOCATED: memory is there when it is registered"),
  /** A bind with flags, or with an object of another kind or domain. */
  BIND_ARGUMENTS("fi_mr(3), fi_mr_bind; fi_endpoint(3), fi_ep_bind"),
  /** A control command other than FI_ENABLE, or one with an argument. */
  CONTROL_COMMAND("fi_cxi(7): regions and endpoints know FI_ENABLE alone"),
  /** A descriptor that no region ever had. */
  UNKNOWN_DESCRIPTOR("fi_mr(3), fi_mr_desc: descriptors come from regions"),
  /** A descriptor of a region that was closed. */
  CLOSED_DESCRIPTOR("fi_mr(3), fi_close: a closed region has no descriptor"),
  /** No descriptor where FI_MR_LOCAL demands one. */
  MISSING_DESCRIPTOR("fi_mr(3), FI_MR_LOCAL: local buffers are registered"),
  /** A local buffer reaches beyond its region. */
  LOCAL_RANGE("fi_mr(3), fi_mr_desc: the region contains the buffer"),
  /** A region is used locally for what it was not registered for. */
  LOCAL_ACCESS("fi_mr(3), access: local use needs FI_SEND, FI_RECV, FI_READ or FI_WRITE"),
  /** A key that the addressed endpoint has no region of, though another endpoint may. */
  REMOTE_KEY("fi_rma(3): the key is that of a region of the addressed endpoint"),
  /** A key of a region that was closed while its endpoint stayed open. */
  REMOTE_KEY_CLOSED("fi_rma(3): the region is there as long as it is targeted"),
  /** A target reaches beyond its region. */
  REMOTE_RANGE("fi_rma(3): the region contains the target"),
  /** A region is targeted by what it was not registered for. */
  REMOTE_ACCESS("fi_mr(3), access: targets need FI_REMOTE_READ or FI_REMOTE_WRITE"),
  /** A message whose struct is inconsistent, or a peer that the address vector lacks. */
  MESSAGE("fi_rma(3), struct fi_msg_rma; fi_av(3)"),
  /** A context that is missing, or that another operation in flight was posted with. */
  CONTEXT("fi_domain(3), FI_CONTEXT2: a context belongs to one operation until it completes"),
  /** A region was closed that operations in flight use. */
  CLOSED_IN_FLIGHT("fi_mr(3), fi_close: after the operations that use the region"),
  /** An endpoint was used, or bound, in a wrong order with enabling it. */
  ENDPOINT_ORDER("fi_endpoint(3): bind, then fi_enable, then data"),
  /** Something was closed that other things stand on. */
  CLOSE_ORDER("fi_domain(3), fi_cq(3), fi_av(3), fi_close: what is open on it closes first"),
  /** A call on an object that was closed. */
  USE_AFTER_CLOSE("fabric(7), fi_close: an object is used no more"),
  /** A pointer that leads to nothing of this kind. */
  POINTER("fabric(7): objects come from the calls that open them"),
  /** An info other than the ones that were handed out. */
  INFO("fi_getinfo(3): objects are opened with what was negotiated"),
  /** A call that this double has no answer to. */
  UNEXPECTED_CALL("the double answers what jofi's provider calls"),
  /** Something was never closed. */
  NOT_CLOSED("fabric(7), fi_close: everything that was opened is closed"),
  /** The double itself failed. */
  DOUBLE_FAILED("the double has to work");

  private final String source;

  Rule(String source) {
    this.source = source;
  }

  /** The manual page, and what it says. */
  public String source() {
    return source;
  }
}

package org.jofi.fabric;

/**
 * Why an operation failed: fi_cq_readerr(3). Owned by its queue and valid only while {@link
 * CompletionQueue.Sink#failed} runs; take what you need, or {@link #toException()}.
 */
public interface CompletionError {

  /** The slot of the operation that failed, or {@link CompletionQueue#NO_CONTEXT}. */
  int context();

  /** {@link CompletionFlags} of the operation, as far as the provider told. */
  long flags();

  /** Bytes transferred before it failed. */
  long lengthBytes();

  /** Bytes that did not fit, for a truncated receive. */
  long overflowBytes();

  /** Immediate data, if the flags say so. */
  long data();

  /** What happened, positive: a {@link FabricErrno}. */
  int errno();

  /** What the provider calls it; see {@link #providerText()}. */
  int providerErrno();

  /** The provider's words for it; allocates. Empty if it has none. */
  String providerText();

  /** All of it, with the queue's place, as an exception to keep; allocates. */
  FabricException toException();
}

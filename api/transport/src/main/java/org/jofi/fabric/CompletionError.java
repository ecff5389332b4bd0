package org.jofi.fabric;

/**
 * Why an operation failed: fi_cq_readerr(3). The completion queue owns this object, and it is valid
 * only while {@link CompletionQueue.Sink#failed} runs. Copy what you need from it, or keep {@link
 * #toException()}.
 */
public interface CompletionError {

  /** {@return the slot of the operation that failed, or {@link CompletionQueue#NO_CONTEXT}} */
  int context();

  /** {@return {@link CompletionFlags} of the operation, as far as the provider reports them} */
  long flags();

  /** {@return how many bytes were transferred before it failed} */
  long lengthBytes();

  /** {@return how many bytes did not fit, for a truncated receive} */
  long overflowBytes();

  /** {@return the immediate data, if the flags say so} */
  long data();

  /** {@return the error, as a positive number: a {@link FabricErrno}} */
  int errno();

  /** {@return the provider's own error number; see {@link #providerText()}} */
  int providerErrno();

  /** {@return the provider's own text for the error; empty if it has none} Allocates. */
  String providerText();

  /**
   * {@return an exception with all of this, and with the queue's fabric and domain, that stays
   * valid afterwards} Allocates.
   */
  FabricException toException();
}

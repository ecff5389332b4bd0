package org.jofi.conformance.bench;

/** A provider turned out not to offer what a case is about. */
public final class NotClaimedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /**
   * @param reason what it does not offer
   */
  public NotClaimedException(String reason) {
    super(reason);
  }
}

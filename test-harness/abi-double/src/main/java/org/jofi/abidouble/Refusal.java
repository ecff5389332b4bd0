package org.jofi.abidouble;

/** A call is answered with an error. Never leaves the double: see {@link Upcalls}. */
final class Refusal extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final int errno;

  Refusal(int errno) {
    super(null, null, false, false);
    this.errno = errno;
  }

  /** A positive fi_errno. */
  int errno() {
    return errno;
  }
}

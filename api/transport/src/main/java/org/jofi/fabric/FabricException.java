package org.jofi.fabric;

/**
 * A fabric call failed. The message names the operation, the error by name and number, the
 * provider's own text, where it happened, and a remedy if one is known.
 */
public final class FabricException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** The call, by its man-page name. */
  private final String operation;

  /** The error, positive. */
  private final int errno;

  /** Provider, fabric and domain, and the rail, peer or region concerned. */
  private final String where;

  /**
   * Composes the message from what is given, and adds a remedy if one is known.
   *
   * @param operation the call, by its man-page name, such as {@code fi_mr_regattr}
   * @param errno what it returned, positive: a {@link FabricErrno}
   * @param providerText the provider's own text; may be empty
   * @param where provider, fabric and domain, and the rail, peer or region concerned
   */
  public FabricException(String operation, int errno, String providerText, String where) {
    super(message(operation, errno, providerText, where));
    this.operation = operation;
    this.errno = errno;
    this.where = where;
  }

  /** {@return the call, by its man-page name} */
  public String operation() {
    return operation;
  }

  /** {@return the error, positive: a {@link FabricErrno}} */
  public int errno() {
    return errno;
  }

  /** {@return provider, fabric and domain, and the rail, peer or region concerned} */
  public String where() {
    return where;
  }

  private static String message(String operation, int errno, String providerText, String where) {
    StringBuilder text = new StringBuilder(160);
    text.append(operation)
        .append(" on ")
        .append(where)
        .append(" failed: ")
        .append(FabricErrno.name(errno))
        .append(" (")
        .append(errno)
        .append("), ")
        .append(FabricErrno.meaning(errno));
    if (!providerText.isEmpty()) {
      text.append("; the provider says: ").append(providerText);
    }
    String remedy = FabricErrno.remedy(operation, errno);
    if (!remedy.isEmpty()) {
      text.append(". ").append(remedy);
    }
    return text.toString();
  }
}

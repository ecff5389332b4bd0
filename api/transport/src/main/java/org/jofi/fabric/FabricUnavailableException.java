package org.jofi.fabric;

/**
 * Something that a provider needs, such as libfabric itself, is not on this machine. The message
 * says where it was looked for, how to override that, and what to install.
 */
public final class FabricUnavailableException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /**
   * Says what is not there.
   *
   * @param message for the user: what is missing, where it was looked for, how to override that,
   *     and what to install
   */
  public FabricUnavailableException(String message) {
    super(message);
  }
}

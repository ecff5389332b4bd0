package org.jofi.fabric;

/**
 * What a provider needs is not on this machine, such as libfabric itself. The message says what was
 * searched, how to override it, and what to install.
 */
public final class FabricUnavailableException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public FabricUnavailableException(String message) {
    super(message);
  }
}

package org.jofi.fabric;

/**
 * A provider, and the version of the library that it is of: what one end of a connection tells the
 * other, so that it is known before they connect whether they understand each other. Immutable; any
 * thread.
 *
 * @param provider the provider's name, as {@link FabricInfo#provider()}; visible characters of
 *     ASCII; empty if it is not told
 * @param major the library's major version, 0 to 255
 * @param minor its minor version, 0 to 255; both are 0 if it has none
 */
public record ProviderRelease(String provider, int major, int minor) {
  /** A peer that tells nothing of itself. */
  public static final ProviderRelease UNTOLD = new ProviderRelease("", 0, 0);

  private static final int MAX_VERSION = 255;

  /**
   * Checks the parts.
   *
   * @throws IllegalArgumentException if a version is out of bounds, or the name has characters that
   *     no provider's name has
   */
  public ProviderRelease {
    if (major < 0 || major > MAX_VERSION || minor < 0 || minor > MAX_VERSION) {
      throw new IllegalArgumentException("no version of a library: %d.%d".formatted(major, minor));
    }
    if (provider.chars().anyMatch(letter -> letter <= ' ' || letter > '~')) {
      throw new IllegalArgumentException("no provider's name: '%s'".formatted(provider));
    }
  }

  /** {@return whether it tells nothing} */
  public boolean isUntold() {
    return provider.isEmpty();
  }

  /** As {@code tcp of libfabric 2.1}. */
  @Override
  public String toString() {
    if (isUntold()) {
      return "an unknown provider";
    }
    return major == 0 && minor == 0
        ? provider
        : "%s of libfabric %d.%d".formatted(provider, major, minor);
  }
}

package org.jofi.libfabric;

/**
 * The two fabrics of libfabric's efa provider, which jofi tells apart as two providers: {@code
 * efa}, the provider's own protocol over the NIC, and {@code efa-direct}, the NIC as it is.
 */
final class EfaFabric {
  /** The provider's name in libfabric, and the name of its first fabric. */
  static final String EFA = "efa";

  /** The name of the other fabric; libfabric 2.1 and newer have it. */
  static final String DIRECT = "efa-direct";

  private EfaFabric() {}

  /** Whether a provider, by jofi's name for it, is one of the two. */
  static boolean is(String provider) {
    return provider.equals(EFA) || provider.equals(DIRECT);
  }
}

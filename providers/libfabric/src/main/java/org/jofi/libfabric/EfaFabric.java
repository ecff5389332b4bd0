package org.jofi.libfabric;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jofi.fabric.Access;
import org.jofi.fabric.FabricInfo;

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

  /**
   * jofi's name for a provider.
   *
   * @param provider libfabric's name for it
   * @param fabric the fabric's name
   */
  static String providerName(String provider, String fabric) {
    return provider.equals(EFA) && fabric.equals(DIRECT) ? DIRECT : provider;
  }

  /** libfabric's name for a provider. */
  static String libraryName(String provider) {
    return provider.equals(DIRECT) ? EFA : provider;
  }

  /** The fabric to ask libfabric for if a provider was named, and no fabric. */
  static Optional<String> fabricOf(String provider) {
    return provider.equals(DIRECT) ? Optional.of(DIRECT) : Optional.empty();
  }

  /**
   * The same infos, but those of efa before those of efa-direct, which libfabric lists first. There
   * sends end at the MTU, nothing can be cancelled, and a message for which no receive is posted is
   * tried again without end. So it is for those who ask for it.
   */
  static List<FabricInfo> preferred(List<FabricInfo> infos) {
    List<FabricInfo> sorted = new ArrayList<>();
    List<FabricInfo> direct = new ArrayList<>();
    int behind = 0;
    for (FabricInfo info : infos) {
      if (info.provider().equals(DIRECT)) {
        direct.add(info);
      } else {
        sorted.add(info);
        behind = info.provider().equals(EFA) ? sorted.size() : behind;
      }
    }
    if (behind == 0) {
      return infos;
    }
    sorted.addAll(behind, direct);
    return List.copyOf(sorted);
  }

  /**
   * What to ask for so that a region may be used so: its own memory is what a device that cannot
   * write reads into, on the writer's behalf, and libfabric 2.1 lets it do that only where receives
   * are asked for.
   */
  static long access(long wanted) {
    return (wanted & Access.REMOTE_WRITE) != 0 ? wanted | Access.RECV : wanted;
  }
}

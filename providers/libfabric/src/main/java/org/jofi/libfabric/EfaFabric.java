package org.jofi.libfabric;

import java.util.ArrayList;
import java.util.List;
import org.jofi.fabric.Access;
import org.jofi.fabric.FabricInfo;

/**
 * The two fabrics of libfabric's efa provider, which jofi tells apart as two providers: {@code
 * efa}, the provider's own protocol over the NIC, and {@code efa-direct}, the NIC as it is.
 */
final class EfaFabric {
  private EfaFabric() {}

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
      if (LibfabricTraits.isEfaDirect(info.provider())) {
        direct.add(info);
      } else {
        sorted.add(info);
        behind = LibfabricTraits.isEfa(info.provider()) ? sorted.size() : behind;
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

package org.jofi.libfabric;

import static org.jofi.libfabric.bindings.LibfabricConstants.FI_CONTEXT;
import static org.jofi.libfabric.bindings.LibfabricConstants.FI_CONTEXT2;
import static org.jofi.libfabric.bindings.LibfabricConstants.FI_ENODATA;
import static org.jofi.libfabric.bindings.LibfabricConstants.FI_EP_RDM;
import static org.jofi.libfabric.bindings.LibfabricConstants.FI_HMEM;
import static org.jofi.libfabric.bindings.LibfabricConstants.FI_PROGRESS_MANUAL;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.FabricHints;
import org.jofi.fabric.FabricInfo;
import org.jofi.libfabric.bindings.Libfabric;
import org.jofi.libfabric.bindings.fi_domain_attr;
import org.jofi.libfabric.bindings.fi_ep_attr;
import org.jofi.libfabric.bindings.fi_fabric_attr;
import org.jofi.libfabric.bindings.fi_info;
import org.jofi.libfabric.bindings.fi_tx_attr;

/** Calls fi_getinfo(3) with hints and converts the infos that it returns. */
final class Discovery {
  private final LibfabricLibrary library;
  private final EntryPoints entryPoints;

  Discovery(LibfabricLibrary library, EntryPoints entryPoints) {
    this.library = library;
    this.entryPoints = entryPoints;
  }

  /**
   * Every way to use a NIC that satisfies the hints. Those for host memory only come first: with
   * some providers, an endpoint that can access device memory is slower for host memory.
   */
  List<FabricInfo> find(FabricHints hints) {
    Map<String, FabricInfo> found = new LinkedHashMap<>();
    query(hints, false).forEach(info -> found.putIfAbsent(identity(info), info));
    if (hints.hmem()) {
      query(hints, true).forEach(info -> found.putIfAbsent(identity(info), info));
    }
    return narrow(hints, EfaFabric.preferred(List.copyOf(found.values())));
  }

  /** A key for duplicates: two infos with the same key are the same NIC used in the same way. */
  private static String identity(FabricInfo info) {
    return String.join(
        "\n",
        info.toString(),
        info.address(),
        info.capabilities().stream().sorted().toList().toString(),
        info.mrModes().stream().sorted().toList().toString(),
        info.messageOrder().stream().sorted().toList().toString(),
        info.limits().toString(),
        info.controlProgress() + " " + info.dataProgress() + " " + info.threading());
  }

  /**
   * Filters by name where libfabric does not: 1.17 ignores domain names, and every version matches
   * provider names in part.
   */
  private static List<FabricInfo> narrow(FabricHints hints, List<FabricInfo> all) {
    List<FabricInfo> infos = all;
    if (hints.domain().isPresent()) {
      infos = keep(infos, info -> info.domainName().equals(hints.domain().get()));
    }
    if (hints.fabric().isPresent()) {
      infos = keep(infos, info -> info.fabricName().equals(hints.fabric().get()));
    }
    if (hints.provider().isPresent()) {
      String wanted = hints.provider().get();
      // For tcp, 1.17 returns only tcp;ofi_rxm, and 2.x returns both.
      List<FabricInfo> exact = keep(infos, info -> info.provider().equals(wanted));
      infos = exact.isEmpty() && !LibfabricTraits.isEfa(wanted) ? infos : exact;
    }
    return infos;
  }

  private static List<FabricInfo> keep(List<FabricInfo> infos, Predicate<FabricInfo> condition) {
    return infos.stream().filter(condition).toList();
  }

  private List<FabricInfo> query(FabricHints hints, boolean hmem) {
    MemorySegment wanted = hints(hints, hmem);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment head = arena.allocate(ValueLayout.ADDRESS);
      int result =
          entryPoints.getinfo(
              library.apiVersion(), MemorySegment.NULL, MemorySegment.NULL, 0, wanted, head);
      LibfabricLibrary.initialized();
      if (result == -FI_ENODATA()) {
        return List.of();
      }
      if (result != 0) {
        throw new FabricException(
            "fi_getinfo",
            -result,
            "",
            "libfabric %s (%s)".formatted(library.versionText(), library.file()));
      }
      return infos(head.get(ValueLayout.ADDRESS, 0));
    } finally {
      Libfabric.fi_freeinfo(wanted);
    }
  }

  private static List<FabricInfo> infos(MemorySegment head) {
    try {
      List<FabricInfo> infos = new ArrayList<>();
      for (MemorySegment at = head; at.address() != 0; at = next(at)) {
        if (fi_ep_attr.type(InfoReader.struct(fi_info.ep_attr(InfoReader.struct(at))))
            == FI_EP_RDM()) {
          infos.add(InfoReader.read(NativeInfo.copyOf(at)));
        }
      }
      return infos;
    } finally {
      Libfabric.fi_freeinfo(head);
    }
  }

  private static MemorySegment next(MemorySegment info) {
    return fi_info.next(InfoReader.struct(info));
  }

  /** Its strings are allocated with strdup because fi_freeinfo frees them. */
  private static MemorySegment hints(FabricHints hints, boolean hmem) {
    MemorySegment pointer = Libfabric.fi_dupinfo(MemorySegment.NULL);
    if (pointer.address() == 0) {
      throw new OutOfMemoryError("fi_allocinfo");
    }
    MemorySegment info = InfoReader.struct(pointer);
    long caps = Bits.ofCapabilities(hints.required()) | (hmem ? FI_HMEM() : 0);
    fi_info.caps(info, caps);
    fi_info.mode(info, FI_CONTEXT() | FI_CONTEXT2());
    fi_ep_attr.type(InfoReader.struct(fi_info.ep_attr(info)), FI_EP_RDM());

    MemorySegment domain = InfoReader.struct(fi_info.domain_attr(info));
    fi_domain_attr.mr_mode(domain, Bits.ofMrModes(hints.offeredMrModes()));
    fi_domain_attr.threading(domain, Bits.ofThreading(hints.threading()));
    fi_domain_attr.control_progress(domain, FI_PROGRESS_MANUAL());
    fi_domain_attr.data_progress(domain, FI_PROGRESS_MANUAL());
    hints.domain().ifPresent(name -> fi_domain_attr.name(domain, LibC.strdup(name)));

    long order = Bits.ofMessageOrder(hints.messageOrder());
    if (order != 0) {
      fi_tx_attr.msg_order(InfoReader.struct(fi_info.tx_attr(info)), order);
    }
    MemorySegment fabric = InfoReader.struct(fi_info.fabric_attr(info));
    hints
        .provider()
        .map(LibfabricTraits::libraryName)
        .ifPresent(name -> fi_fabric_attr.prov_name(fabric, LibC.strdup(name)));
    hints
        .fabric()
        .or(() -> hints.provider().flatMap(LibfabricTraits::fabricOf))
        .ifPresent(name -> fi_fabric_attr.name(fabric, LibC.strdup(name)));
    return pointer;
  }
}

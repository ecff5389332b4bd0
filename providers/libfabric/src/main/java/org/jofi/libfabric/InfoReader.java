package org.jofi.libfabric;

import static org.jofi.libfabric.bindings.LibfabricConstants.FI_BUS_PCI;
import static org.jofi.libfabric.bindings.LibfabricConstants.FI_LINK_DOWN;
import static org.jofi.libfabric.bindings.LibfabricConstants.FI_LINK_UP;
import static org.jofi.libfabric.bindings.LibfabricConstants.FI_MR_PROV_KEY;

import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.Set;
import org.jofi.fabric.AddressText;
import org.jofi.fabric.Capability;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.FabricLimits;
import org.jofi.fabric.NicAttributes;
import org.jofi.fabric.PciAddress;
import org.jofi.libfabric.bindings.fi_bus_attr;
import org.jofi.libfabric.bindings.fi_device_attr;
import org.jofi.libfabric.bindings.fi_domain_attr;
import org.jofi.libfabric.bindings.fi_ep_attr;
import org.jofi.libfabric.bindings.fi_fabric_attr;
import org.jofi.libfabric.bindings.fi_info;
import org.jofi.libfabric.bindings.fi_link_attr;
import org.jofi.libfabric.bindings.fi_pci_attr;
import org.jofi.libfabric.bindings.fi_rx_attr;
import org.jofi.libfabric.bindings.fi_tx_attr;
import org.jofi.libfabric.bindings.fid_nic;

/**
 * Converts a struct fi_info to a {@link FabricInfo}. It reads only fields that libfabric 1.17 has.
 */
final class InfoReader {
  /**
   * More than the size of any struct that libfabric returns. Only fields of the struct are read.
   */
  private static final long STRUCT_BYTES = 512;

  private InfoReader() {}

  /** A segment for a struct of the library, as the accessors of the bindings need it. */
  @SuppressWarnings("restricted")
  static MemorySegment struct(MemorySegment pointer) {
    return MemorySegment.ofAddress(pointer.address()).reinterpret(STRUCT_BYTES);
  }

  static FabricInfo read(NativeInfo handle) {
    return handle.with(pointer -> read(handle, struct(pointer)));
  }

  private static FabricInfo read(NativeInfo handle, MemorySegment info) {
    MemorySegment fabric = struct(fi_info.fabric_attr(info));
    MemorySegment domain = struct(fi_info.domain_attr(info));
    String fabricName = LibC.text(fi_fabric_attr.name(fabric));
    String libraryName = LibC.text(fi_fabric_attr.prov_name(fabric));
    String provider = LibfabricTraits.providerName(libraryName, fabricName);
    return FabricInfo.builder(provider, fabricName, LibC.text(fi_domain_attr.name(domain)))
        .providerVersion(version(fi_fabric_attr.prov_version(fabric)))
        .address(AddressText.of(sourceAddress(info)))
        .capabilities(capabilities(info, libraryName))
        .mrModes(Bits.mrModes(fi_domain_attr.mr_mode(domain)))
        .messageOrder(Bits.messageOrder(fi_tx_attr.msg_order(struct(fi_info.tx_attr(info)))))
        .limits(limits(info, domain))
        .progress(
            Bits.progress(fi_domain_attr.control_progress(domain)),
            Bits.progress(fi_domain_attr.data_progress(domain)))
        .threading(Bits.threading(fi_domain_attr.threading(domain)))
        .nic(nic(fi_info.nic(info)))
        .writesData(writesData(libraryName, fi_domain_attr.mr_mode(domain)))
        .traits(LibfabricTraits.of(provider, LibfabricLibrary.load().layersSendLongPackets()))
        .attachment(handle)
        .build();
  }

  /**
   * fi_cxi(7) delivers immediate data with writes from libfabric 2.5 on, if it is switched on and
   * the provider chooses keys; otherwise the call returns -FI_ENOSYS.
   */
  private static boolean writesData(String provider, int mrMode) {
    return !LibfabricTraits.hasWriteDataSwitch(provider)
        || (LibfabricLibrary.load().cxiWritesData() && (mrMode & FI_MR_PROV_KEY()) != 0);
  }

  /** The capabilities that the provider reports, without those that it is known not to have. */
  private static Set<Capability> capabilities(MemorySegment info, String provider) {
    Set<Capability> claimed = Bits.capabilities(fi_info.caps(info));
    if (LibfabricTraits.receivesFromAnyPeer(provider)) {
      claimed.remove(Capability.DIRECTED_RECV);
    }
    return claimed;
  }

  /** The local address in the provider's format; empty if it reports none. */
  static byte[] sourceAddress(MemorySegment info) {
    MemorySegment address = fi_info.src_addr(info);
    long length = fi_info.src_addrlen(info);
    return address.address() == 0 || length <= 0 || length > STRUCT_BYTES
        ? new byte[0]
        : struct(address).asSlice(0, length).toArray(java.lang.foreign.ValueLayout.JAVA_BYTE);
  }

  private static String version(int packed) {
    return packed == 0 ? "" : LibfabricLibrary.major(packed) + "." + LibfabricLibrary.minor(packed);
  }

  private static FabricLimits limits(MemorySegment info, MemorySegment domain) {
    MemorySegment transmit = struct(fi_info.tx_attr(info));
    return new FabricLimits(
        clampInt(fi_domain_attr.mr_key_size(domain)),
        clampInt(fi_domain_attr.cq_data_size(domain)),
        clamp(fi_tx_attr.inject_size(transmit)),
        clamp(fi_ep_attr.max_msg_size(struct(fi_info.ep_attr(info)))),
        clampInt(fi_tx_attr.size(transmit)),
        clampInt(fi_rx_attr.size(struct(fi_info.rx_attr(info)))),
        clampInt(fi_domain_attr.mr_iov_limit(domain)),
        clamp(fi_domain_attr.mr_cnt(domain)));
  }

  private static NicAttributes nic(MemorySegment pointer) {
    if (pointer.address() == 0) {
      return NicAttributes.UNKNOWN;
    }
    MemorySegment nic = struct(pointer);
    MemorySegment device = fid_nic.device_attr(nic);
    MemorySegment link = fid_nic.link_attr(nic);
    boolean known = device.address() != 0;
    boolean linked = link.address() != 0;
    return new NicAttributes(
        known ? word(fi_device_attr.name(struct(device))) : Optional.empty(),
        known ? word(fi_device_attr.driver(struct(device))) : Optional.empty(),
        known ? word(fi_device_attr.firmware(struct(device))) : Optional.empty(),
        pci(fid_nic.bus_attr(nic)),
        linked ? clamp(fi_link_attr.speed(struct(link))) : 0,
        linked ? clamp(fi_link_attr.mtu(struct(link))) : 0,
        linked ? linkUp(fi_link_attr.state(struct(link))) : Optional.empty());
  }

  private static Optional<PciAddress> pci(MemorySegment pointer) {
    if (pointer.address() == 0) {
      return Optional.empty();
    }
    MemorySegment bus = struct(pointer);
    if (fi_bus_attr.bus_type(bus) != FI_BUS_PCI()) {
      return Optional.empty();
    }
    MemorySegment pci = fi_bus_attr.attr.pci(fi_bus_attr.attr(bus));
    return Optional.of(
        new PciAddress(
            Short.toUnsignedInt(fi_pci_attr.domain_id(pci)),
            Byte.toUnsignedInt(fi_pci_attr.bus_id(pci)),
            Byte.toUnsignedInt(fi_pci_attr.device_id(pci)),
            Byte.toUnsignedInt(fi_pci_attr.function_id(pci))));
  }

  private static Optional<Boolean> linkUp(int state) {
    if (state == FI_LINK_UP()) {
      return Optional.of(true);
    }
    return state == FI_LINK_DOWN() ? Optional.of(false) : Optional.empty();
  }

  private static Optional<String> word(MemorySegment text) {
    String word = LibC.text(text);
    return word.isEmpty() ? Optional.empty() : Optional.of(word);
  }

  /** A size_t as a long; larger values become {@link Long#MAX_VALUE}. */
  private static long clamp(long size) {
    return size < 0 ? Long.MAX_VALUE : size;
  }

  private static int clampInt(long size) {
    return (int) Math.min(clamp(size), Integer.MAX_VALUE);
  }
}

package org.jofi.libfabric;

import static org.jofi.libfabric.bindings.LibfabricConstants.*;

import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import org.jofi.fabric.Capability;
import org.jofi.fabric.EndpointOption;
import org.jofi.fabric.MemoryKind;
import org.jofi.fabric.MessageOrder;
import org.jofi.fabric.MrMode;
import org.jofi.fabric.Progress;
import org.jofi.fabric.Threading;

/** Converts the SPI's enums to libfabric's bits and numbers, and back. */
final class Bits {
  private static final Map<Capability, Long> CAPABILITIES = new EnumMap<>(Capability.class);
  private static final Map<MrMode, Long> MR_MODES = new EnumMap<>(MrMode.class);
  private static final Map<MessageOrder, Long> ORDERS = new EnumMap<>(MessageOrder.class);

  static {
    CAPABILITIES.put(Capability.MSG, FI_MSG());
    CAPABILITIES.put(Capability.RMA, FI_RMA());
    CAPABILITIES.put(Capability.TAGGED, FI_TAGGED());
    CAPABILITIES.put(Capability.ATOMIC, FI_ATOMIC());
    CAPABILITIES.put(Capability.MULTICAST, FI_MULTICAST());
    CAPABILITIES.put(Capability.COLLECTIVE, FI_COLLECTIVE());
    CAPABILITIES.put(Capability.READ, FI_READ());
    CAPABILITIES.put(Capability.WRITE, FI_WRITE());
    CAPABILITIES.put(Capability.RECV, FI_RECV());
    CAPABILITIES.put(Capability.SEND, FI_SEND());
    CAPABILITIES.put(Capability.REMOTE_READ, FI_REMOTE_READ());
    CAPABILITIES.put(Capability.REMOTE_WRITE, FI_REMOTE_WRITE());
    CAPABILITIES.put(Capability.MULTI_RECV, FI_MULTI_RECV());
    CAPABILITIES.put(Capability.SHARED_AV, FI_SHARED_AV());
    CAPABILITIES.put(Capability.TRIGGER, FI_TRIGGER());
    CAPABILITIES.put(Capability.FENCE, FI_FENCE());
    CAPABILITIES.put(Capability.LOCAL_COMM, FI_LOCAL_COMM());
    CAPABILITIES.put(Capability.REMOTE_COMM, FI_REMOTE_COMM());
    CAPABILITIES.put(Capability.SOURCE, FI_SOURCE());
    CAPABILITIES.put(Capability.SOURCE_ERR, FI_SOURCE_ERR());
    CAPABILITIES.put(Capability.DIRECTED_RECV, FI_DIRECTED_RECV());
    CAPABILITIES.put(Capability.NAMED_RX_CTX, FI_NAMED_RX_CTX());
    CAPABILITIES.put(Capability.RMA_EVENT, FI_RMA_EVENT());
    CAPABILITIES.put(Capability.RMA_PMEM, FI_RMA_PMEM());
    CAPABILITIES.put(Capability.HMEM, FI_HMEM());
    CAPABILITIES.put(Capability.AV_USER_ID, FI_AV_USER_ID());
    CAPABILITIES.put(Capability.PEER, FI_PEER());

    MR_MODES.put(MrMode.LOCAL, (long) FI_MR_LOCAL());
    MR_MODES.put(MrMode.RAW, (long) FI_MR_RAW());
    MR_MODES.put(MrMode.VIRT_ADDR, (long) FI_MR_VIRT_ADDR());
    MR_MODES.put(MrMode.ALLOCATED, (long) FI_MR_ALLOCATED());
    MR_MODES.put(MrMode.PROV_KEY, (long) FI_MR_PROV_KEY());
    MR_MODES.put(MrMode.MMU_NOTIFY, (long) FI_MR_MMU_NOTIFY());
    MR_MODES.put(MrMode.RMA_EVENT, (long) FI_MR_RMA_EVENT());
    MR_MODES.put(MrMode.ENDPOINT, (long) FI_MR_ENDPOINT());
    MR_MODES.put(MrMode.HMEM, (long) FI_MR_HMEM());
    MR_MODES.put(MrMode.COLLECTIVE, (long) FI_MR_COLLECTIVE());

    ORDERS.put(MessageOrder.RAR, FI_ORDER_RAR());
    ORDERS.put(MessageOrder.RAW, FI_ORDER_RAW());
    ORDERS.put(MessageOrder.RAS, FI_ORDER_RAS());
    ORDERS.put(MessageOrder.WAR, FI_ORDER_WAR());
    ORDERS.put(MessageOrder.WAW, FI_ORDER_WAW());
    ORDERS.put(MessageOrder.WAS, FI_ORDER_WAS());
    ORDERS.put(MessageOrder.SAR, FI_ORDER_SAR());
    ORDERS.put(MessageOrder.SAW, FI_ORDER_SAW());
    ORDERS.put(MessageOrder.SAS, FI_ORDER_SAS());
    ORDERS.put(MessageOrder.RMA_RAR, FI_ORDER_RMA_RAR());
    ORDERS.put(MessageOrder.RMA_RAW, FI_ORDER_RMA_RAW());
    ORDERS.put(MessageOrder.RMA_WAR, FI_ORDER_RMA_WAR());
    ORDERS.put(MessageOrder.RMA_WAW, FI_ORDER_RMA_WAW());
  }

  private Bits() {}

  static long ofCapabilities(Set<Capability> set) {
    return bits(CAPABILITIES, set);
  }

  static Set<Capability> capabilities(long bits) {
    return set(Capability.class, CAPABILITIES, bits);
  }

  static int ofMrModes(Set<MrMode> set) {
    return (int) bits(MR_MODES, set);
  }

  static Set<MrMode> mrModes(int bits) {
    return set(MrMode.class, MR_MODES, Integer.toUnsignedLong(bits));
  }

  static long ofMessageOrder(Set<MessageOrder> set) {
    return bits(ORDERS, set);
  }

  static Set<MessageOrder> messageOrder(long bits) {
    return set(MessageOrder.class, ORDERS, bits);
  }

  static Progress progress(int value) {
    if (value == FI_PROGRESS_AUTO()) {
      return Progress.AUTO;
    }
    if (value == FI_PROGRESS_MANUAL()) {
      return Progress.MANUAL;
    }
    return value == FI_PROGRESS_CONTROL_UNIFIED() ? Progress.CONTROL_UNIFIED : Progress.UNSPECIFIED;
  }

  static Threading threading(int value) {
    if (value == FI_THREAD_SAFE()) {
      return Threading.SAFE;
    }
    if (value == FI_THREAD_FID()) {
      return Threading.FID;
    }
    if (value == FI_THREAD_DOMAIN()) {
      return Threading.DOMAIN;
    }
    if (value == FI_THREAD_COMPLETION()) {
      return Threading.COMPLETION;
    }
    return value == FI_THREAD_ENDPOINT() ? Threading.ENDPOINT : Threading.UNSPECIFIED;
  }

  static int ofThreading(Threading value) {
    return switch (value) {
      case UNSPECIFIED -> FI_THREAD_UNSPEC();
      case SAFE -> FI_THREAD_SAFE();
      case FID -> FI_THREAD_FID();
      case DOMAIN -> FI_THREAD_DOMAIN();
      case COMPLETION -> FI_THREAD_COMPLETION();
      case ENDPOINT -> FI_THREAD_ENDPOINT();
    };
  }

  static int ofMemoryKind(MemoryKind kind) {
    return switch (kind) {
      case HOST -> FI_HMEM_SYSTEM();
      case CUDA -> FI_HMEM_CUDA();
      case ROCM -> FI_HMEM_ROCR();
      case NEURON -> FI_HMEM_NEURON();
    };
  }

  static int ofOption(EndpointOption option) {
    return switch (option) {
      case MIN_MULTI_RECV -> FI_OPT_MIN_MULTI_RECV();
      case CM_DATA_SIZE -> FI_OPT_CM_DATA_SIZE();
      case HMEM_P2P -> FI_OPT_FI_HMEM_P2P();
      case CUDA_API_PERMITTED -> FI_OPT_CUDA_API_PERMITTED();
      case SHARED_MEMORY_PERMITTED -> FI_OPT_SHARED_MEMORY_PERMITTED();
      case MAX_MSG_SIZE -> FI_OPT_MAX_MSG_SIZE();
      case MAX_RMA_SIZE -> FI_OPT_MAX_RMA_SIZE();
      case INJECT_MSG_SIZE -> FI_OPT_INJECT_MSG_SIZE();
      case INJECT_RMA_SIZE -> FI_OPT_INJECT_RMA_SIZE();
    };
  }

  /** Length of the option's value: fi_endpoint(3) defines each as size_t, int or bool. */
  static int optionBytes(EndpointOption option) {
    return switch (option) {
      case HMEM_P2P -> Integer.BYTES;
      case CUDA_API_PERMITTED, SHARED_MEMORY_PERMITTED -> 1;
      case MIN_MULTI_RECV,
          CM_DATA_SIZE,
          MAX_MSG_SIZE,
          MAX_RMA_SIZE,
          INJECT_MSG_SIZE,
          INJECT_RMA_SIZE ->
          Long.BYTES;
    };
  }

  private static <E extends Enum<E>> long bits(Map<E, Long> table, Set<E> set) {
    long bits = 0;
    for (E element : set) {
      Long bit = table.get(element);
      if (bit == null) {
        throw new IllegalArgumentException("libfabric 2 has no bit for " + element);
      }
      bits |= bit;
    }
    return bits;
  }

  private static <E extends Enum<E>> Set<E> set(Class<E> type, Map<E, Long> table, long bits) {
    Set<E> set = EnumSet.noneOf(type);
    table.forEach(
        (element, bit) -> {
          if ((bits & bit) != 0) {
            set.add(element);
          }
        });
    return set;
  }
}

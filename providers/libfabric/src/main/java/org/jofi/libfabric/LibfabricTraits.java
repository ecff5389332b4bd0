package org.jofi.libfabric;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.jofi.fabric.ProviderRelease;
import org.jofi.fabric.ProviderTraits;

/**
 * What sets libfabric's providers apart, by their names. No other class of the product contains
 * one: the rest asks here, or for the {@link ProviderTraits} of an info.
 */
final class LibfabricTraits {
  /** The efa provider's name in libfabric, and the name of its first fabric. */
  private static final String EFA = "efa";

  /** The name of its other fabric; libfabric 2.1 and newer have it. */
  private static final String EFA_DIRECT = "efa-direct";

  private static final String CXI = "cxi";
  private static final String NET = "net";
  private static final String TCP = "tcp";
  private static final String SHM = "shm";
  private static final String VERBS = "verbs";

  /** Lets endpoints of ofi_rxm share the receives of the provider below. */
  private static final String SHARES_RECEIVES = "FI_OFI_RXM_USE_SRX";

  /**
   * Software providers, from the most to the least preferred. Providers that are not listed are for
   * hardware. Shared memory is last, because it reaches no other machine.
   */
  private static final List<String> SOFTWARE =
      List.of(TCP, NET, "tcp;ofi_rxm", "net;ofi_rxm", "sockets", "udp;ofi_rxd", SHM);

  /** Core providers whose data the processor copies, through sockets or shared memory. */
  private static final Set<String> COPYING = Set.of(TCP, NET, "sockets", "udp", SHM);

  /**
   * Core providers that complete a plain write once its bytes are in a socket's buffer. Others
   * complete it when the peer's NIC has it; efa before that, where it emulates writes by packets.
   */
  private static final Set<String> OVER_SOCKETS = Set.of(NET, TCP);

  /**
   * The variables from which providers take the ports that they listen at. The library reads them
   * once. net is tcp from 1.18 on.
   */
  static final List<PortVariables> PORT_VARIABLES =
      List.of(
          new PortVariables(TCP, "FI_TCP_PORT_LOW_RANGE", "FI_TCP_PORT_HIGH_RANGE"),
          new PortVariables(NET, "FI_NET_PORT_LOW_RANGE", "FI_NET_PORT_HIGH_RANGE"));

  /** Core providers that have no such variables, and listen at the port of the info's address. */
  private static final Set<String> OF_THE_INFO = Set.of("sockets", "udp");

  private static final int EAGER_SOCKET_BYTES = 64 * 1024 - 64;
  private static final int EAGER_LAYERED_BYTES = 8 * 1024;

  /** With what is around it, it fits into the 4 KiB that are copied without the other process. */
  private static final int EAGER_SHARED_BYTES = 4032;

  /**
   * Half a round trip of 8 bytes between two processes of a machine with 16 cores or more, through
   * the API or NCCL's, median of several runs. No network is between, whose time is to be added.
   */
  private static final Map<String, Long> LATENCY_NANOS =
      Map.of(NET, 7_200L, TCP, 7_200L, "tcp;ofi_rxm", 8_300L, SHM, 1_900L);

  /** A stream of messages of 1 MiB between two processes: 10 GB/s. */
  private static final long SHARED_BITS_PER_SECOND = 80_000_000_000L;

  private LibfabricTraits() {}

  /**
   * The variables for ports of a core provider.
   *
   * @param provider the core provider's name
   * @param low names the first
   * @param high names the last
   */
  record PortVariables(String provider, String low, String high) {}

  /**
   * The traits of a provider, by jofi's name for it.
   *
   * @param longLayered {@link LibfabricLibrary#layersSendLongPackets}
   */
  static ProviderTraits of(String provider, boolean longLayered) {
    String core = core(provider);
    return new ProviderTraits(
        SOFTWARE.contains(provider),
        Math.max(SOFTWARE.indexOf(provider), 0),
        COPYING.contains(core),
        // Without it, shm copies a plain write into the peer by a system call, however short:
        // process_vm_writev(2). With it, half a round trip of 8 bytes took 638 ns instead of 1514.
        isSharedMemory(provider),
        !OVER_SOCKETS.contains(core),
        // From 2.1 to 2.3, an endpoint asks itself for what only a handshake tells, and makes none.
        !provider.equals(EFA),
        eagerBytes(provider, core, longLayered),
        LATENCY_NANOS.getOrDefault(provider, 0L),
        isSharedMemory(provider) ? SHARED_BITS_PER_SECOND : 0);
  }

  /**
   * Up to where a round of an all-reduce was faster, between two processes on two processors, when
   * messages left before their receive was announced. Over sockets that was so up to the longest
   * that can. With GPUs, NCCL's all-reduce of up to 1 MiB gained as well. What ofi_rxm does not
   * send at once costs it another round trip.
   */
  private static int eagerBytes(String provider, String core, boolean longLayered) {
    if (isSharedMemory(provider)) {
      return EAGER_SHARED_BYTES;
    }
    if (provider.endsWith(";ofi_rxm") && !(longLayered && core.equals(TCP))) {
      return EAGER_LAYERED_BYTES;
    }
    return OVER_SOCKETS.contains(core) ? EAGER_SOCKET_BYTES : ProviderTraits.HARDWARE.eagerBytes();
  }

  /** What a provider is layered under, as in tcp;ofi_rxm, comes behind it. */
  private static String core(String provider) {
    return provider.split(";", 2)[0];
  }

  /** Whether a provider, by jofi's name for it, is one of the two fabrics of efa. */
  static boolean isEfa(String provider) {
    return provider.equals(EFA) || isEfaDirect(provider);
  }

  /** Whether a provider, by jofi's name for it, is efa's NIC as it is. */
  static boolean isEfaDirect(String provider) {
    return provider.equals(EFA_DIRECT);
  }

  /**
   * jofi's name for a provider.
   *
   * @param provider libfabric's name for it
   * @param fabric the fabric's name
   */
  static String providerName(String provider, String fabric) {
    return provider.equals(EFA) && fabric.equals(EFA_DIRECT) ? EFA_DIRECT : provider;
  }

  /** libfabric's name for a provider. */
  static String libraryName(String provider) {
    return isEfaDirect(provider) ? EFA : provider;
  }

  /** Whether fi_close(3) of its endpoints waits until their operations have ended. */
  static boolean closesAfterOperations(String provider) {
    return provider.equals(EFA);
  }

  /** The fabric to ask libfabric for if a provider was named, and no fabric. */
  static Optional<String> fabricOf(String provider) {
    return isEfaDirect(provider) ? Optional.of(EFA_DIRECT) : Optional.empty();
  }

  /**
   * Why ends of these two cannot be connected. Who maps the shared memory of another version's shm
   * crashes: its format has changed with most minor versions (SMR_VERSION, and what is behind it).
   */
  static Optional<String> obstacle(ProviderRelease one, ProviderRelease other) {
    if (!wire(one).equals(wire(other))) {
      return Optional.of(
          "providers %s and %s do not understand each other; choose one that both have (%s of libfabric 1 is %s of libfabric 2)"
              .formatted(one.provider(), other.provider(), NET, TCP));
    }
    boolean alike = one.major() == other.major() && one.minor() == other.minor();
    return alike || !isSharedMemory(one.provider())
        ? Optional.empty()
        : Optional.of(
            "shared memory of different versions of libfabric has different formats; give both the same file with %s"
                .formatted(LibfabricLibrary.VARIABLE));
  }

  /** Providers of one name here are the same on the wire. */
  private static String wire(ProviderRelease of) {
    return of.provider().equals(NET) ? TCP : of.provider();
  }

  /** Whether its endpoints are in memory that processes share, which contains locks. */
  static boolean isSharedMemory(String provider) {
    return provider.equals(SHM);
  }

  /**
   * Whether a read of an endpoint's own memory passes the NIC by, unless options forbid it: through
   * shared memory, as every operation within a host, or by a CUDA copy: fi_efa(7), fi_endpoint(3).
   */
  static boolean readsItselfWithoutNic(String provider) {
    return provider.equals(EFA);
  }

  /** The variable that switches a provider's shared memory off, in versions without the option. */
  static String sharedMemorySwitch(String provider) {
    return provider.equals(EFA) ? "FI_EFA_ENABLE_SHM_TRANSFER" : "";
  }

  /** Whether immediate data with writes has to be switched on: fi_cxi(7). */
  static boolean hasWriteDataSwitch(String provider) {
    return provider.equals(CXI);
  }

  /**
   * Whether its endpoints are connected by {@link TcpSockets}. Closing one leaves connections
   * behind that it accepted: {@link UnheardConnections}.
   */
  static boolean isOverTcp(String provider) {
    return OVER_SOCKETS.contains(core(provider));
  }

  /** The variables from which its endpoints take the ports that they listen at; empty if none. */
  static Optional<PortVariables> portVariables(String provider) {
    return PORT_VARIABLES.stream()
        .filter(variables -> variables.provider().equals(core(provider)))
        .findFirst();
  }

  /** Whether its endpoints listen at the port of their info's address. */
  static boolean listensAtPortOfInfo(String provider) {
    return OF_THE_INFO.contains(core(provider));
  }

  /** Whether its untagged receives take messages from any peer, even if a peer was named. */
  static boolean receivesFromAnyPeer(String provider) {
    return provider.equals(NET) || provider.equals(TCP);
  }

  /**
   * Whether a provider of that version leaves its domains' maps of regions unguarded: {@link
   * RegionMapLock}.
   *
   * @param version libfabric's, as FI_VERSION has it
   */
  static boolean leavesRegionMapUnguarded(String provider, int version) {
    return switch (core(provider)) {
      case NET -> version < LibfabricLibrary.version(1, 18);
      case TCP ->
          version >= LibfabricLibrary.version(1, 18) && version < LibfabricLibrary.version(1, 19);
      default -> false;
    };
  }

  /**
   * Whether a process dies of SIGSEGV in that version if its peer ends, or the connection does,
   * while a write with immediate data is partly there. The lower layer reports such a write with
   * ECANCELED and without a context, in xnet_ep_flush_all_queues, and ofi_rxm reads the context's
   * state all the same, in rxm_handle_comp_error. From the sources of 1.18 to 2.6; seen on 2.1.
   *
   * @param version libfabric's, as FI_VERSION has it
   */
  static boolean crashesOnPartialWriteData(String provider, int version) {
    return isLayeredOverSockets(provider) && version >= LibfabricLibrary.version(1, 18);
  }

  /**
   * Why a provider loses arrivals with this process's environment; empty if it does not. Where its
   * endpoints share a receive queue, verbs tells of a write with immediate data as of a message, in
   * vrb_poll_cq, and ofi_rxm looks for a packet that is not there. From the sources of 1.17 and
   * 2.1, and seen on both.
   *
   * @param environment gives a variable's value, or nothing
   */
  static Optional<String> trap(String provider, UnaryOperator<String> environment) {
    String shared = environment.apply(SHARES_RECEIVES).toLowerCase(Locale.ROOT);
    return provider.endsWith(";ofi_rxm")
            && core(provider).equals(VERBS)
            && List.of("1", "true", "yes", "on").contains(shared)
        ? Optional.of(
            "%s loses every write with immediate data while %s=%s is set: unset it"
                .formatted(provider, SHARES_RECEIVES, shared))
        : Optional.empty();
  }

  /** Whether a provider, by jofi's name for it, is ofi_rxm over one that uses sockets. */
  static boolean isLayeredOverSockets(String provider) {
    return provider.endsWith(";ofi_rxm") && OVER_SOCKETS.contains(core(provider));
  }
}

package org.jofi.simulated.profile;

import static org.jofi.fabric.Capability.DIRECTED_RECV;
import static org.jofi.fabric.Capability.FENCE;
import static org.jofi.fabric.Capability.LOCAL_COMM;
import static org.jofi.fabric.Capability.MSG;
import static org.jofi.fabric.Capability.READ;
import static org.jofi.fabric.Capability.RECV;
import static org.jofi.fabric.Capability.REMOTE_COMM;
import static org.jofi.fabric.Capability.REMOTE_READ;
import static org.jofi.fabric.Capability.REMOTE_WRITE;
import static org.jofi.fabric.Capability.RMA;
import static org.jofi.fabric.Capability.SEND;
import static org.jofi.fabric.Capability.WRITE;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jofi.fabric.Capability;
import org.jofi.fabric.EndpointOption;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricLimits;
import org.jofi.fabric.MemoryKind;
import org.jofi.fabric.MessageOrder;
import org.jofi.fabric.MrMode;
import org.jofi.fabric.Progress;
import org.jofi.fabric.Threading;

/**
 * The kind of NIC to simulate: what it negotiates, how it transfers data, which errors it reports.
 * Immutable.
 *
 * <p>The capabilities contain only what this fabric can do: tagged messages, atomics and the like
 * are left out even if the real NIC has them. The values are from libfabric's man pages and the
 * providers' sources; a comment at each value names its source.
 *
 * @param name such as {@code efa}
 * @param device the name of its NICs, without their number
 * @param fabric the network's name; {@code %d} stands for the rail
 * @param negotiation what it answers to fi_getinfo(3)
 * @param behaviour how it transfers data
 * @param errors the errors that it reports
 * @param link latency and bandwidth, unless others are given
 */
public record Profile(
    String name,
    String device,
    String fabric,
    Negotiation negotiation,
    Behaviour behaviour,
    ErrorCodes errors,
    Link link) {

  private static final Set<Capability> CARRIED =
      Set.of(MSG, RMA, SEND, RECV, READ, WRITE, REMOTE_READ, REMOTE_WRITE, LOCAL_COMM, REMOTE_COMM);

  /**
   * AWS Elastic Fabric Adapter, fabric {@code efa}: virtual addresses, keys chosen by the provider,
   * regions that belong to the domain, and no order unless the hints ask for it.
   */
  public static final Profile EFA =
      new Profile(
          "efa",
          "efa",
          "efa",
          new Negotiation(
              carriedAnd(DIRECTED_RECV),
              // efa_prov_info.c, efa_domain_attr.mr_mode: OFI_MR_BASIC_MAP | FI_MR_ALLOCATED, which
              // is VIRT_ADDR, ALLOCATED and PROV_KEY.
              Set.of(MrMode.VIRT_ADDR, MrMode.ALLOCATED, MrMode.PROV_KEY),
              // fi_efa(7), "Memory registration modes": the application may specify FI_MR_LOCAL.
              Set.of(MrMode.LOCAL),
              // fi_efa(7): FI_HMEM with CUDA and AWS Neuron.
              Set.of(MemoryKind.CUDA, MemoryKind.NEURON),
              // efa_fabric_comparison.md, "MR Modes": FI_MR_HMEM required with FI_HMEM.
              true,
              // fi_efa(7), "RDM Endpoint capabilities": SAS. efa_prov_info.c: FI_ORDER_SAS and
              // atomics.
              Set.of(MessageOrder.SAS),
              new FabricLimits(
                  // efa_prov_info.c: sizeof ibv_sge.lkey.
                  4,
                  // efa_cq.h: EFA_CQ_DATA_SIZE.
                  4,
                  // efa_prov_info.c: at most SHM_MAX_INJECT_SIZE, efa.h.
                  4096,
                  // efa_prov_info.c: UINT64_MAX, the endpoint segments.
                  Long.MAX_VALUE,
                  // Depends on the device (max_sq_wr, max_rq_wr); chosen freely here.
                  512,
                  1024,
                  // efa_mr.h: EFA_MR_IOV_LIMIT.
                  1,
                  // Depends on the device (max_mr); not reported here.
                  0),
              // efa_av.h: sizeof struct efa_ep_addr.
              32,
              // fi_efa(7), "Progress": FI_PROGRESS_MANUAL on fabric efa.
              Progress.MANUAL,
              Progress.MANUAL,
              // efa_prov_info.c: FI_THREAD_SAFE.
              Threading.SAFE,
              // efa_rdm_ep_fiops.c, efa_rdm_ep_setopt.
              Set.of(
                  EndpointOption.MIN_MULTI_RECV,
                  EndpointOption.HMEM_P2P,
                  EndpointOption.CUDA_API_PERMITTED,
                  EndpointOption.SHARED_MEMORY_PERMITTED,
                  EndpointOption.MAX_MSG_SIZE,
                  EndpointOption.MAX_RMA_SIZE,
                  EndpointOption.INJECT_MSG_SIZE,
                  EndpointOption.INJECT_RMA_SIZE)),
          // fi_efa(7): RDMA write by the device, with immediate data ("unsolicited write recv").
          // Regions under posted receives do not close: "MR aborting".
          new Behaviour(true, false, false, false, false, 100_000_000),
          new ErrorCodes(
              // efa_errno.h, to_fi_errno: REMOTE_ERROR_BAD_ADDRESS.
              FabricErrno.EINVAL,
              7,
              // REMOTE_ERROR_BAD_DEST_QPN.
              FabricErrno.ENOTCONN,
              9,
              // LOCAL_ERROR_UNREACH_REMOTE.
              FabricErrno.EHOSTUNREACH,
              15,
              // REMOTE_ERROR_BAD_STATUS.
              FabricErrno.EREMOTEIO,
              12),
          // 100 Gbit/s per adapter (p4d.24xlarge); the latency is a round figure.
          Link.of(8, 100));

  /**
   * HPE Slingshot with keys chosen by the provider: FI_MR_ENDPOINT, offsets, fi_writedata switched
   * on.
   */
  public static final Profile CXI =
      cxi(
          "cxi",
          // cxip_info.c, cxip_prov_key_domain_attr.
          Set.of(MrMode.PROV_KEY, MrMode.ALLOCATED, MrMode.ENDPOINT),
          // cxip.h: CXIP_MR_PROV_KEY_SIZE, sizeof struct cxip_mr_key.
          8,
          // fi_cxi(7), FI_CXI_ENABLE_WRITEDATA: libfabric 2.5 and provider keys.
          true);

  /**
   * HPE Slingshot with keys chosen by the application: FI_MR_ENDPOINT, 32-bit keys, no
   * fi_writedata.
   */
  public static final Profile CXI_CLIENT_KEY =
      cxi(
          "cxi-client-key",
          // cxip_info.c, cxip_client_key_domain_attr.
          Set.of(MrMode.ALLOCATED, MrMode.ENDPOINT),
          // cxip.h: CXIP_MR_KEY_SIZE, sizeof uint32_t.
          4,
          false);

  /**
   * The tcp provider of libfabric 2: keys chosen by the application, offsets, and the target must
   * poll.
   */
  public static final Profile TCP =
      new Profile(
          "tcp",
          "tcp",
          "10.77.%d.0/24",
          new Negotiation(
              // xnet_attr.c, xnet_rdm_info. It lists FI_DIRECTED_RECV but ignores the peer that a
              // receive names, so the capability is not offered here.
              CARRIED,
              // xnet_attr.c: OFI_MR_SCALABLE | OFI_MR_BASIC, reported as 0.
              Set.of(),
              Set.of(),
              // prov/tcp has no FI_HMEM.
              Set.of(),
              false,
              // xnet_attr.c: XNET_MSG_ORDER.
              Set.of(
                  MessageOrder.RAR,
                  MessageOrder.RAW,
                  MessageOrder.WAW,
                  MessageOrder.RMA_RAR,
                  MessageOrder.RMA_RAW,
                  MessageOrder.RMA_WAW,
                  MessageOrder.RAS,
                  MessageOrder.WAS,
                  MessageOrder.SAW,
                  MessageOrder.SAS),
              new FabricLimits(
                  // xnet_attr.c: mr_key_size and cq_data_size are sizeof uint64_t.
                  8,
                  8,
                  // fi_tcp(7), FI_TCP_MAX_INJECT; xnet.h, XNET_DEF_INJECT.
                  128,
                  // xnet_attr.c: SIZE_MAX.
                  Long.MAX_VALUE,
                  // Measured with fi_getinfo: 256 unless FI_TCP_TX_SIZE says otherwise.
                  256,
                  256,
                  // xnet_attr.c: mr_iov_limit.
                  1,
                  0),
              // FI_SOCKADDR_IP, sizeof sockaddr_in.
              16,
              // Measured with fi_getinfo: its answer to hints for manual progress. No data is
              // transferred unless the target polls.
              Progress.AUTO,
              Progress.MANUAL,
              // xnet_attr.c: FI_THREAD_SAFE.
              Threading.SAFE,
              // xnet_rdm.c, xnet_ep.c: FI_OPT_MIN_MULTI_RECV, FI_OPT_CM_DATA_SIZE.
              Set.of(EndpointOption.MIN_MULTI_RECV, EndpointOption.CM_DATA_SIZE)),
          // Measured: a plain write completes while the target is idle, and reports success even
          // for a bad key; the first operation to a peer is -FI_EAGAIN until the connection stands.
          new Behaviour(true, true, true, true, false, 100_000_000),
          // Measured: reads and delivery-complete writes with a bad key end with ECANCELED,
          // provider error 107.
          new ErrorCodes(
              FabricErrno.ECANCELED,
              107,
              FabricErrno.ENOTCONN,
              107,
              FabricErrno.ECONNRESET,
              104,
              FabricErrno.ECONNRESET,
              104),
          Link.of(15, 25));

  /** All profiles, in the order in which discovery lists them. */
  public static final List<Profile> ALL = List.of(EFA, CXI, CXI_CLIENT_KEY, TCP);

  /**
   * The profile of that name, with or without {@code simulated-} before it.
   *
   * @throws IllegalArgumentException if there is none; the message names those that there are
   */
  public static Profile named(String name) {
    return ALL.stream()
        .filter(profile -> profile.isNamed(name))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "no profile named '%s'; there are %s"
                        .formatted(name, ALL.stream().map(Profile::name).toList())));
  }

  /**
   * This profile with or without fi_writedata, which FI_CXI_ENABLE_WRITEDATA switches on real NICs.
   */
  public Profile withWriteData(boolean offered) {
    return new Profile(
        name, device, fabric, negotiation, behaviour.withWriteData(offered), errors, link);
  }

  /** The name in {@link org.jofi.fabric.FabricInfo#provider()}. */
  public String providerName() {
    return "simulated-" + name;
  }

  public boolean isNamed(String wanted) {
    return wanted.equals(name) || wanted.equals(providerName());
  }

  private static Profile cxi(
      String name, Set<MrMode> mrModes, int mrKeyBytes, boolean writeDataOffered) {
    return new Profile(
        name,
        "cxi",
        "cxi",
        new Negotiation(
            // cxip.h: CXIP_EP_PRI_CAPS, CXIP_EP_SEC_CAPS, CXIP_DOM_CAPS.
            carriedAnd(DIRECTED_RECV, FENCE),
            mrModes,
            Set.of(),
            // fi_cxi(7), "Heterogenous Memory (HMEM) Supported Interfaces".
            Set.of(MemoryKind.CUDA, MemoryKind.ROCM),
            // cxip_info.c: mr_mode has no FI_MR_HMEM.
            false,
            // fi_cxi(7): "Supported message ordering"; cxip.h, CXIP_MSG_ORDER.
            Set.of(MessageOrder.SAS, MessageOrder.WAW, MessageOrder.RMA_WAW, MessageOrder.RMA_RAR),
            new FabricLimits(
                mrKeyBytes,
                // cxip.h: CXIP_REMOTE_CQ_DATA_SZ.
                8,
                // cxip.h: CXIP_INJECT_SIZE, C_MAX_IDC_PAYLOAD_UNR of the NIC's header: 192.
                192,
                // cxip.h: CXIP_EP_MAX_MSG_SZ.
                (1L << 32) - 1,
                // cxip.h: CXIP_DEFAULT_TX_SIZE, CXIP_DEFAULT_RX_SIZE.
                1024,
                1024,
                // cxip_info.c: mr_iov_limit, mr_cnt.
                1,
                100),
            // cxip.h: sizeof struct cxip_addr.
            8,
            // cxip_info.c: FI_PROGRESS_MANUAL.
            Progress.MANUAL,
            Progress.MANUAL,
            // cxip_info.c: FI_THREAD_SAFE.
            Threading.SAFE,
            // cxip_ep.c, cxip_ep_setopt and cxip_ep_getopt.
            Set.of(EndpointOption.MIN_MULTI_RECV, EndpointOption.CUDA_API_PERMITTED)),
        // cxip_mr.c: fi_close of a region always succeeds.
        new Behaviour(writeDataOffered, false, false, false, true, 100_000_000),
        // cxip_cq.c, proverr2errno: only EIO, EHOSTUNREACH and ENOTCONN exist. The provider's own
        // errors (C_RC_*) are in the NIC's headers; here the errno is used for both.
        new ErrorCodes(
            FabricErrno.EIO,
            11,
            FabricErrno.EIO,
            15,
            FabricErrno.EHOSTUNREACH,
            26,
            FabricErrno.EIO,
            2),
        // 200 Gbit/s Slingshot-11; the latency is a round figure.
        Link.of(2, 200));
  }

  private static Set<Capability> carriedAnd(Capability... more) {
    EnumSet<Capability> all = EnumSet.copyOf(CARRIED);
    all.addAll(List.of(more));
    return all;
  }
}

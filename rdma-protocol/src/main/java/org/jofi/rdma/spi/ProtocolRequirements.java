package org.jofi.rdma.spi;

import java.util.ArrayList;
import java.util.List;
import org.jofi.fabric.Capability;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.KeyOwner;
import org.jofi.fabric.MrMode;

/** What the RDMA protocol requires of a NIC. */
public final class ProtocolRequirements {

  /** Width of the protocol's immediate data, in bytes. */
  static final int IMMEDIATE_BYTES = 4;

  /** Fewest operations in flight on a rail: a window of messages, each with control traffic. */
  static final int LEAST_TRANSMIT_DEPTH = 16;

  private ProtocolRequirements() {}

  /** Phrases that say what a NIC lacks, with the man pages' names; empty if it lacks nothing. */
  public static List<String> lacks(FabricInfo info) {
    List<String> lacks = new ArrayList<>();
    if (!info.has(Capability.MSG)) {
      lacks.add("no messages (FI_MSG)");
    }
    if (!info.has(Capability.RMA)) {
      lacks.add("no one-sided writes and reads (FI_RMA)");
    }
    int cqData = info.limits().cqDataBytes();
    if (cqData < IMMEDIATE_BYTES) {
      lacks.add(
          "immediate data of %d bytes, needs %d (cq_data_size)".formatted(cqData, IMMEDIATE_BYTES));
    }
    if (info.limits().transmitDepth() < LEAST_TRANSMIT_DEPTH) {
      lacks.add(
          "only %d operations in flight, needs %d (tx_attr.size)"
              .formatted(info.limits().transmitDepth(), LEAST_TRANSMIT_DEPTH));
    }
    if (info.mrModes().contains(MrMode.RAW)) {
      lacks.add("keys longer than 64 bits (FI_MR_RAW)");
    }
    if (info.keyOwner() == KeyOwner.APPLICATION && info.limits().mrKeyBytes() < 1) {
      lacks.add("no room for keys (mr_key_size)");
    }
    return List.copyOf(lacks);
  }
}

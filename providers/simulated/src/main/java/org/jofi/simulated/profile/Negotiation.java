package org.jofi.simulated.profile;

import java.util.Set;
import org.jofi.fabric.Capability;
import org.jofi.fabric.EndpointOption;
import org.jofi.fabric.FabricLimits;
import org.jofi.fabric.MemoryKind;
import org.jofi.fabric.MessageOrder;
import org.jofi.fabric.MrMode;
import org.jofi.fabric.Progress;
import org.jofi.fabric.Threading;

/**
 * What a profile answers to fi_getinfo(3).
 *
 * @param capabilities without {@link Capability#HMEM}, which is added on demand
 * @param requiredMrModes modes that a caller must offer
 * @param optionalMrModes modes that are used if the caller offers them
 * @param deviceMemory kinds of device memory that can be registered; empty: no FI_HMEM
 * @param deviceMemoryMrMode whether FI_HMEM demands FI_MR_HMEM
 * @param orders orders that are kept, but only if the caller asks for them
 * @param limits sizes
 * @param addressBytes length of an endpoint's address
 * @param controlProgress what drives connections
 * @param dataProgress what drives transfers
 * @param threading which calls may run at the same time
 * @param options endpoint options that it has
 */
public record Negotiation(
    Set<Capability> capabilities,
    Set<MrMode> requiredMrModes,
    Set<MrMode> optionalMrModes,
    Set<MemoryKind> deviceMemory,
    boolean deviceMemoryMrMode,
    Set<MessageOrder> orders,
    FabricLimits limits,
    int addressBytes,
    Progress controlProgress,
    Progress dataProgress,
    Threading threading,
    Set<EndpointOption> options) {

  public Negotiation {
    capabilities = Set.copyOf(capabilities);
    requiredMrModes = Set.copyOf(requiredMrModes);
    optionalMrModes = Set.copyOf(optionalMrModes);
    deviceMemory = Set.copyOf(deviceMemory);
    orders = Set.copyOf(orders);
    options = Set.copyOf(options);
  }
}

package org.jofi.simulated.spi;

import java.util.EnumMap;
import java.util.Map;
import org.jofi.fabric.EndpointOption;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.FabricLimits;
import org.jofi.simulated.profile.Profile;

/** Endpoint options: fi_endpoint(3), fi_setopt. They are stored but have no effect here. */
final class EndpointOptions {
  private EndpointOptions() {}

  /** The options' values for a new endpoint of a profile. */
  static Map<EndpointOption, Long> defaults(FabricInfo info, Profile profile) {
    Map<EndpointOption, Long> values = new EnumMap<>(EndpointOption.class);
    for (EndpointOption option : EndpointOption.values()) {
      if (profile.negotiation().options().contains(option)) {
        values.put(option, defaultOf(option, info.limits()));
      }
    }
    return values;
  }

  /** The errno with which a value is refused; 0 if it is accepted. */
  static int refuses(Profile profile, FabricLimits limits, EndpointOption option, long value) {
    if (!profile.negotiation().options().contains(option)) {
      return FabricErrno.ENOPROTOOPT;
    }
    boolean valid =
        switch (option) {
          case CUDA_API_PERMITTED, SHARED_MEMORY_PERMITTED -> value == 0 || value == 1;
          case CM_DATA_SIZE -> false;
          case HMEM_P2P -> value >= 0 && value <= 3;
          case MIN_MULTI_RECV -> value >= 0;
          case MAX_MSG_SIZE, MAX_RMA_SIZE -> value >= 0 && value <= limits.maxMessageBytes();
          case INJECT_MSG_SIZE, INJECT_RMA_SIZE -> value >= 0 && value <= limits.injectBytes();
        };
    return valid ? 0 : FabricErrno.EINVAL;
  }

  private static long defaultOf(EndpointOption option, FabricLimits limits) {
    return switch (option) {
      case CUDA_API_PERMITTED, SHARED_MEMORY_PERMITTED -> 1;
      case HMEM_P2P -> 0;
      case MIN_MULTI_RECV -> 64;
      case CM_DATA_SIZE -> 256;
      case MAX_MSG_SIZE, MAX_RMA_SIZE -> limits.maxMessageBytes();
      case INJECT_MSG_SIZE, INJECT_RMA_SIZE -> limits.injectBytes();
    };
  }
}

package org.jofi.libfabric;

import java.util.function.UnaryOperator;
import org.jofi.fabric.Capability;
import org.jofi.fabric.EndpointOption;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.FabricInfo;
import org.jspecify.annotations.Nullable;

/**
 * Has an endpoint read its own memory through its NIC, as a flush needs it. A provider that knows a
 * shorter way, through shared memory or by a copy of the CUDA runtime, is told not to take it.
 */
final class OwnReads {
  private final FabricInfo info;
  private final UnaryOperator<@Nullable String> environment;

  /**
   * @param environment the value of a variable, or null
   */
  OwnReads(FabricInfo info, UnaryOperator<@Nullable String> environment) {
    this.info = info;
    this.environment = environment;
  }

  /**
   * Sets what is to be set before the endpoint is enabled.
   *
   * @return why a read may not go through the NIC: the option that was refused; null if it does
   */
  @Nullable FabricException demand(EndpointOptions options) {
    String provider = info.provider();
    if (!LibfabricTraits.readsItselfWithoutNic(provider)) {
      return null;
    }
    FabricException shared = options.refusal(EndpointOption.SHARED_MEMORY_PERMITTED, 0);
    if (shared != null && !isOff(environment.apply(LibfabricTraits.sharedMemorySwitch(provider)))) {
      return shared;
    }
    if (!info.has(Capability.HMEM)) {
      return null;
    }
    FabricException copied = options.refusal(EndpointOption.CUDA_API_PERMITTED, 0);
    // EINVAL: libfabric found no CUDA that it could call.
    return copied == null || copied.errno() == FabricErrno.EINVAL ? null : copied;
  }

  /** As fi_param_get_bool reads it; what it does not know leaves the switch as it is, on. */
  private static boolean isOff(@Nullable String value) {
    return value != null
        && (value.equals("0")
            || value.equalsIgnoreCase("false")
            || value.equalsIgnoreCase("no")
            || value.equalsIgnoreCase("off"));
  }
}

package org.jofi.rdma.wire;

import java.util.List;

/**
 * Where a side's endpoints are reached, rail by rail.
 *
 * @param control the control rails' addresses: 1, or as many as data rails
 * @param data the data rails' addresses, 1 to 8
 */
public record RailAddresses(List<FabricAddress> control, List<FabricAddress> data) {
  public RailAddresses {
    control = List.copyOf(control);
    data = List.copyOf(data);
    if (!isRailCount(data.size(), control.size())) {
      throw new IllegalArgumentException(
          "%d data rails do not go with %d control rails".formatted(data.size(), control.size()));
    }
  }

  static boolean isRailCount(int data, int control) {
    return data >= 1 && data <= ProtocolLimits.MAX_RAILS && (control == 1 || control == data);
  }
}

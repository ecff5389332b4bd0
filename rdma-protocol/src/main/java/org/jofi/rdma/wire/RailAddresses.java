package org.jofi.rdma.wire;

import java.util.List;

/**
 * Which endpoint a side has, and where it is reached, rail by rail. Immutable; any thread.
 *
 * @param endpoint drawn at random when the endpoint was opened: it stays, and no other has it,
 *     whatever becomes of the addresses
 * @param control the control rails' addresses: 1, or as many as data rails
 * @param data the data rails' addresses, 1 to 8
 * @param epochs which of the endpoints that were opened on each data rail, one after the other, has
 *     that address; from 0
 */
public record RailAddresses(
    long endpoint, List<FabricAddress> control, List<FabricAddress> data, List<Integer> epochs) {
  public RailAddresses {
    control = List.copyOf(control);
    data = List.copyOf(data);
    epochs = List.copyOf(epochs);
  }

  static boolean isRailCount(int data, int control) {
    return data >= 1 && data <= ProtocolLimits.MAX_RAILS && (control == 1 || control == data);
  }
}

package org.jofi.nccl;

import java.util.List;
import java.util.function.Supplier;
import org.jofi.transport.Device;
import org.jofi.transport.DeviceProperties;
import org.jofi.transport.Transport;
import org.jspecify.annotations.Nullable;

/**
 * The transport that all NCCL communicators of a process share. It is open from the first init
 * until nothing uses it any more. Any thread.
 */
final class TransportLease {
  private static final String LOOPBACK = "lo";

  private final Supplier<Transport> opener;
  private @Nullable Transport transport;
  private int holders;

  TransportLease(Supplier<Transport> opener) {
    this.opener = opener;
  }

  /** Adds a user, and opens the transport for the first one. */
  synchronized void take() {
    if (transport == null) {
      transport = opener.get();
    }
    holders++;
  }

  /** Removes a user, and closes the transport after the last one. */
  synchronized void giveBack() {
    holders--;
    Transport open = transport;
    if (holders == 0 && open != null) {
      transport = null;
      open.close();
    }
  }

  /**
   * The open transport.
   *
   * @throws IllegalStateException if there is none
   */
  synchronized Transport current() {
    if (transport == null) {
      throw new IllegalStateException("called before init, or after the last finalize");
    }
    return transport;
  }

  /**
   * The devices that are offered to NCCL, in the order of their indexes. Loopback, which the
   * transport lists last, does not reach other machines, but NCCL would use it for them as well. So
   * it is offered only if there is nothing else.
   */
  List<Device> devices() {
    List<Device> all = current().devices();
    int offered = all.size();
    while (offered > 1 && isLoopback(all.get(offered - 1).properties())) {
      offered--;
    }
    return all.subList(0, offered);
  }

  private static boolean isLoopback(DeviceProperties device) {
    return device.rails().stream().allMatch(rail -> rail.nic().equals(LOOPBACK));
  }

  /**
   * One of its devices.
   *
   * @throws IllegalArgumentException if there is none with this index
   */
  Device device(int index) {
    List<Device> devices = devices();
    if (index < 0 || index >= devices.size()) {
      throw new IllegalArgumentException(
          "no device %d; there are %d".formatted(index, devices.size()));
    }
    return devices.get(index);
  }
}

package org.jofi.nccl;

import java.util.List;
import java.util.function.Supplier;
import org.jofi.transport.Device;
import org.jofi.transport.DeviceProperties;
import org.jofi.transport.Transport;
import org.jspecify.annotations.Nullable;

/**
 * The transport that all of a process's NCCL communicators share: open from the first init until
 * nothing of it is in use. Any thread.
 */
final class TransportLease {
  private static final String LOOPBACK = "lo";

  private final Supplier<Transport> opener;
  private @Nullable Transport transport;
  private int holders;

  TransportLease(Supplier<Transport> opener) {
    this.opener = opener;
  }

  /** Takes hold of it, and opens it if nobody has. */
  synchronized void take() {
    if (transport == null) {
      transport = opener.get();
    }
    holders++;
  }

  /** Lets go of it, and closes it if nobody else has hold of it. */
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
   * The devices that NCCL is offered, each at its index. Loopback, which the transport puts last,
   * reaches no other machine; NCCL would use it for those as well, and is offered it only if there
   * is nothing else.
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
   * @throws IllegalArgumentException if there is none of that number
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

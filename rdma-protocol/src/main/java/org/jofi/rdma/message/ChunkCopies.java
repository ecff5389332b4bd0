package org.jofi.rdma.message;

import org.jofi.fabric.DeviceCopier;
import org.jofi.fabric.FabricErrno;
import org.jofi.rdma.endpoint.PendingPosts;
import org.jofi.rdma.endpoint.Posting;
import org.jofi.rdma.wire.ProtocolLimits;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.jspecify.annotations.Nullable;

/**
 * The copies of one request that are under way, by the number that the request gives each. As a
 * posting it is asked until none is.
 */
final class ChunkCopies extends Posting {
  /** Who is told of each copy that is over. */
  interface Listener {

    /**
     * A copy is over.
     *
     * @param why it failed; null if it did not
     */
    void copied(int part, @Nullable Failure why);
  }

  private static final int NONE = -1;

  private final PendingPosts pending;
  private final Listener listener;
  private final int[] copies = new int[ProtocolLimits.MAX_GROUP];
  private @Nullable DeviceCopier copier;
  private int underWay;

  ChunkCopies(PendingPosts pending, Listener listener) {
    this.pending = pending;
    this.listener = listener;
    java.util.Arrays.fill(copies, NONE);
  }

  /** Which copier from now on; none is under way. */
  void use(@Nullable DeviceCopier next) {
    copier = next;
  }

  /** Starts a copy to the host: 0, or a negative errno. */
  int toHost(int part, long deviceAddress, long hostAddress, long bytes) {
    DeviceCopier by = copier;
    return by == null
        ? -FabricErrno.EINVAL
        : started(part, by.toHost(deviceAddress, hostAddress, bytes));
  }

  /** Starts a copy to the device: 0, or a negative errno. */
  int toDevice(int part, long hostAddress, long deviceAddress, long bytes) {
    DeviceCopier by = copier;
    return by == null
        ? -FabricErrno.EINVAL
        : started(part, by.toDevice(hostAddress, deviceAddress, bytes));
  }

  private int started(int part, int answer) {
    if (answer < 0) {
      return answer;
    }
    copies[part] = answer;
    underWay++;
    pending.defer(this);
    return 0;
  }

  /** What a failed copy is. */
  Failure failure(int errno) {
    DeviceCopier by = copier;
    return new Failure(
        FailureCause.FABRIC, -errno, "copy of a chunk", by == null ? "" : by.failureText());
  }

  @Override
  protected boolean post() {
    DeviceCopier by = copier;
    for (int part = 0; part < copies.length && by != null; part++) {
      if (copies[part] != NONE) {
        int state = by.test(copies[part]);
        if (state != DeviceCopier.IN_PROGRESS) {
          copies[part] = NONE;
          underWay--;
          listener.copied(part, state < 0 ? failure(state) : null);
        }
      }
    }
    return underWay == 0;
  }
}

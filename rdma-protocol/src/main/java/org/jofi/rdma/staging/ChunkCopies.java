package org.jofi.rdma.staging;

import java.util.Arrays;
import org.jofi.fabric.DeviceCopier;
import org.jofi.fabric.FabricErrno;
import org.jofi.rdma.operation.Task;
import org.jofi.rdma.operation.Tasks;
import org.jofi.rdma.wire.ProtocolLimits;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.jspecify.annotations.Nullable;

/**
 * The copies of one request that are under way, by the number that the request gives each. It is
 * asked until none is.
 */
public final class ChunkCopies extends Task {
  public interface Listener {

    /** A copy is over; why it failed, or null. */
    void copied(int part, @Nullable Failure why);
  }

  /** A copy did not begin, since as many are under way as there may be. */
  public static final int AGAIN = -FabricErrno.EAGAIN;

  private static final int NONE = -1;

  private final Tasks tasks;
  private final Listener listener;
  private final int[] copies = new int[ProtocolLimits.MAX_GROUP];
  private @Nullable DeviceCopier copier;
  private int underWay;

  public ChunkCopies(Tasks tasks, Listener listener) {
    this.tasks = tasks;
    this.listener = listener;
    Arrays.fill(copies, NONE);
  }

  /** Which blocks copies go through from now on; only while none is under way. */
  public void use(@Nullable StagingRing ring) {
    copier = ring == null ? null : ring.space().copier;
  }

  /** Starts a copy to the host, or to the device: 0, {@link #AGAIN}, or another negative errno. */
  public int start(boolean toHost, int part, long deviceAddress, long hostAddress, long bytes) {
    DeviceCopier by = copier;
    if (by == null) {
      return -FabricErrno.EINVAL;
    }
    int copy =
        toHost
            ? by.toHost(deviceAddress, hostAddress, bytes)
            : by.toDevice(hostAddress, deviceAddress, bytes);
    if (copy < 0) {
      return copy;
    }
    copies[part] = copy;
    underWay++;
    tasks.defer(this);
    return 0;
  }

  public Failure failure(int errno) {
    DeviceCopier by = copier;
    return new Failure(
        FailureCause.FABRIC, -errno, "copy of a chunk", by == null ? "" : by.failureText());
  }

  @Override
  protected boolean advance() {
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

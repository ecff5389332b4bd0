package org.jofi.rdma.staging;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jofi.fabric.DeviceCopier;
import org.jofi.fabric.DeviceMemory;
import org.jofi.fabric.FabricException;
import org.jofi.mr.registration.RegistrationException;
import org.jofi.mr.teardown.CloseSteps;
import org.jspecify.annotations.Nullable;

/**
 * A communicator's blocks for the memory of one device, and its queue of copies. It grows a ring at
 * a time, up to a limit, and shrinks when it is closed. Used with the endpoint's lock held.
 */
public final class StagingSpace implements AutoCloseable {
  private static final int COPIES = 256;

  private final DeviceMemory device;
  private final StagingShape shape;
  private final BlockLease lease;
  private final int pageBytes;
  private final int mostRings;
  private final DeviceCopier copier;
  private final List<StagingRing> all = new ArrayList<>();
  private final ArrayDeque<StagingRing> large = new ArrayDeque<>();
  private final ArrayDeque<StagingRing> small = new ArrayDeque<>();
  private final Set<StagingRing> smallOnes = new HashSet<>();
  private int largeRings;
  private int smallRings;
  private boolean refused;
  private boolean closed;

  /**
   * Opens one, with a ring of each size.
   *
   * @param device stays the caller's
   * @param pageBytes what blocks are aligned to
   * @param mostRings rings of a size that there may be
   * @throws RegistrationException if a NIC cannot register blocks
   * @throws FabricException if the driver cannot pin them; nothing stays open
   */
  public StagingSpace(
      DeviceMemory device, StagingShape shape, BlockLease lease, int pageBytes, int mostRings) {
    this.device = device;
    this.shape = shape;
    this.lease = lease;
    this.pageBytes = pageBytes;
    this.mostRings = mostRings;
    copier = device.openCopier(COPIES);
    boolean open = false;
    try {
      give(grow(true));
      give(grow(false));
      open = true;
    } finally {
      if (!open) {
        close();
      }
    }
  }

  /** How it stages. */
  public StagingShape shape() {
    return shape;
  }

  /** Its copies. */
  public DeviceCopier copier() {
    return copier;
  }

  /**
   * Takes blocks for a message.
   *
   * @return null if none are free now
   */
  public @Nullable StagingRing take(long lengthBytes) {
    boolean isSmall = lengthBytes <= shape.smallBytes();
    StagingRing free = (isSmall ? small : large).pollLast();
    if (free != null || refused || (isSmall ? smallRings : largeRings) >= mostRings) {
      return free;
    }
    try {
      return grow(isSmall);
    } catch (RegistrationException | FabricException e) {
      // There are some, which will be free again: the limits of the machine are this space's.
      refused = true;
      return null;
    }
  }

  private StagingRing grow(boolean isSmall) {
    StagingRing ring =
        isSmall
            ? StagingRing.open(device, lease, shape.smallBytes(), 1, pageBytes)
            : StagingRing.open(device, lease, shape.chunkBytes(), shape.chunks(), pageBytes);
    all.add(ring);
    if (isSmall) {
      smallRings++;
      smallOnes.add(ring);
    } else {
      largeRings++;
    }
    return ring;
  }

  /** Gives blocks back. */
  public void give(StagingRing ring) {
    (smallOnes.contains(ring) ? small : large).addLast(ring);
  }

  /**
   * Waits for copies that are under way, and frees all blocks; a second call does nothing. Nothing
   * may be able to reach them any more.
   *
   * @throws FabricException if the driver or a NIC refuses; all blocks were tried then
   */
  @Override
  public void close() {
    if (!closed) {
      closed = true;
      CloseSteps steps = new CloseSteps();
      steps.step(copier::close);
      all.forEach(ring -> steps.step(ring::close));
      steps.end();
    }
  }
}

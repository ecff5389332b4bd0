package org.jofi.rdma.staging;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jofi.fabric.DeviceCopier;
import org.jofi.fabric.DeviceMemory;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.mr.registration.RegistrationException;
import org.jofi.mr.teardown.CloseSteps;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.jspecify.annotations.Nullable;

/**
 * A communicator's blocks for the memory of one device, and its queue of copies. It grows a ring at
 * a time, up to a limit, and shrinks when it is closed. Any thread, but the copier is used with the
 * endpoint's lock held.
 *
 * <p>Who takes blocks holds the endpoint's lock, and pinning and registering may take long. So that
 * is done apart, by {@link #grow}.
 */
public final class StagingSpace implements AutoCloseable {
  /** {@link #copy}: none began, since as many are under way as there may be. */
  public static final int AGAIN = -FabricErrno.EAGAIN;

  /** {@link #test}: the copy is not over. */
  public static final int IN_PROGRESS = DeviceCopier.IN_PROGRESS;

  private static final int COPIES = 256;

  /** Rings of one size. Used with the monitor of the space held. */
  private static final class Rings {
    final ArrayDeque<StagingRing> free = new ArrayDeque<>();
    int count;
    boolean wanted;
  }

  public final DeviceMemory device;
  public final StagingShape shape;
  private final Function<MemorySegment, DataRegistration> registrar;
  private final int pageBytes;
  private final int mostRings;
  private final DeviceCopier copier;
  private final List<StagingRing> all = new ArrayList<>();
  private final Rings large = new Rings();
  private final Rings small = new Rings();
  private String refusal = "";
  private boolean closed;
  // Whether rings of a size are wanted.
  private volatile boolean wanted;

  /**
   * Opens one, with a ring of each size. Without the endpoint's lock.
   *
   * @param device stays the caller's
   * @param registrar registers blocks with the communicator's NICs; released by this
   * @param mostRings rings of a size that there may be
   * @throws RegistrationException if a NIC cannot register blocks
   * @throws FabricException if the driver cannot pin them; nothing stays open
   */
  public StagingSpace(
      DeviceMemory device,
      StagingShape shape,
      Function<MemorySegment, DataRegistration> registrar,
      int pageBytes,
      int mostRings) {
    this.device = device;
    this.shape = shape;
    this.registrar = registrar;
    this.pageBytes = pageBytes;
    this.mostRings = mostRings;
    copier = device.openCopier(COPIES);
    boolean open = false;
    try {
      add(true, open(true));
      add(false, open(false));
      open = true;
    } finally {
      if (!open) {
        close();
      }
    }
  }

  private Rings rings(boolean isSmall) {
    return isSmall ? small : large;
  }

  /** Takes blocks for a message; null if none are free now, for which {@link #grow} may help. */
  public synchronized @Nullable StagingRing take(long lengthBytes) {
    Rings rings = rings(lengthBytes <= shape.smallBytes());
    StagingRing free = rings.free.pollLast();
    if (free == null && rings.count < mostRings && refusal.isEmpty()) {
      rings.wanted = true;
      wanted = true;
    }
    return free;
  }

  /** Begins a copy, to be tested: its number, {@link #AGAIN}, or another negative errno. */
  public int copy(boolean toHost, long deviceAddress, long hostAddress, long bytes) {
    return toHost
        ? copier.toHost(deviceAddress, hostAddress, bytes)
        : copier.toDevice(hostAddress, deviceAddress, bytes);
  }

  /** How a copy fares: {@link #IN_PROGRESS}, over, or a negative errno. */
  public int test(int copy) {
    return copier.test(copy);
  }

  public Failure failure(int errno) {
    return new Failure(FailureCause.FABRIC, -errno, "copy of a chunk", copier.failureText());
  }

  public synchronized void give(StagingRing ring) {
    rings(ring.isSmall()).free.addLast(ring);
  }

  /**
   * Adds a ring of each size of which one could not be taken, as long as there may be more. Without
   * the endpoint's lock.
   *
   * @return whether there are more
   */
  public boolean grow() {
    if (!wanted) {
      return false;
    }
    boolean more = grow(true);
    return grow(false) || more;
  }

  private boolean grow(boolean isSmall) {
    Rings rings = rings(isSmall);
    synchronized (this) {
      if (closed || !rings.wanted) {
        return false;
      }
      // It counts from now on, so that others who grow keep to the limit.
      rings.count++;
      rings.wanted = false;
      wanted = rings(!isSmall).wanted;
    }
    @Nullable StagingRing ring = null;
    String why = "";
    try {
      ring = open(isSmall);
    } catch (RegistrationException | FabricException refused) {
      // There are some, which will be free again: the limits of the machine are this space's.
      why = String.valueOf(refused.getMessage());
    }
    synchronized (this) {
      rings.count--;
      refusal = why;
      if (ring == null) {
        return false;
      }
      if (!closed) {
        add(isSmall, ring);
        return true;
      }
    }
    ring.close();
    return false;
  }

  /** Why it does not grow any more: the words of who refused; empty if nobody did. */
  public synchronized String refusal() {
    return refusal;
  }

  /** All of it or nothing: allocated, pinned, registered. */
  private StagingRing open(boolean isSmall) {
    int blockBytes = isSmall ? shape.smallBytes() : shape.chunkBytes();
    int blocks = isSmall ? 1 : shape.chunks();
    Arena arena = Arena.ofShared();
    long pinned = 0;
    boolean open = false;
    try {
      long bytes = (long) blockBytes * blocks + pageBytes - 1 & -pageBytes;
      MemorySegment memory = arena.allocate(bytes, pageBytes);
      device.pin(memory.address(), bytes);
      pinned = memory.address();
      DataRegistration registration = registrar.apply(memory);
      open = true;
      return new StagingRing(this, arena, memory, registration, isSmall, blockBytes, blocks);
    } finally {
      if (!open) {
        if (pinned != 0) {
          device.unpin(pinned);
        }
        arena.close();
      }
    }
  }

  private synchronized void add(boolean isSmall, StagingRing ring) {
    all.add(ring);
    rings(isSmall).count++;
    rings(isSmall).free.addLast(ring);
  }

  /**
   * Waits for copies that are under way, and frees all blocks; a second call does nothing. Nothing
   * may be able to reach them any more.
   *
   * @throws FabricException if the driver or a NIC refuses; all blocks were tried then
   */
  @Override
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    CloseSteps steps = new CloseSteps();
    steps.step(copier::close);
    all.forEach(ring -> steps.step(ring::close));
    steps.end();
  }
}

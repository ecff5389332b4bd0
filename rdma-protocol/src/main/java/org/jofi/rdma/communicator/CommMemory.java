package org.jofi.rdma.communicator;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jofi.fabric.DmaBuf;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.MemoryKind;
import org.jofi.mr.EndpointRegistrations;
import org.jofi.mr.registration.BufferRange;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.mr.registration.RegistrationException;
import org.jofi.rdma.connect.Connection;
import org.jofi.rdma.staging.StagingSpace;
import org.jofi.transport.FailureCause;
import org.jofi.transport.Memory;
import org.jofi.transport.Registration;
import org.jofi.transport.TransportException;
import org.jofi.transport.Use;

/** The memory that a communicator uses: what is registered for it, and which requests use that. */
final class CommMemory {
  private final RdmaComm owner;
  private final RdmaDevice device;
  private final EndpointRegistrations registrations;
  private final DeviceBuffers deviceBuffers;
  final RegistrationUses uses;

  /** Registrations of segments that are used without one of their own. */
  final SegmentUses segments;

  // Guarded by the endpoint's lock, as the next.
  private final Set<RdmaRegistration> open = new LinkedHashSet<>();
  private boolean ended;

  CommMemory(RdmaComm owner, RdmaDevice device, Connection connection, int stagedAtOnce) {
    this.owner = owner;
    this.device = device;
    registrations = owner.endpoint.driver.registrations;
    uses = new RegistrationUses(connection);
    segments = new SegmentUses(owner, registrations, device.options.cache().wholeSegmentBytes());
    deviceBuffers = new DeviceBuffers(owner, device, stagedAtOnce);
  }

  RdmaRegistration own(Registration registration) {
    if (registration instanceof RdmaRegistration ours && ours.open && ours.owner.equals(owner)) {
      return ours;
    }
    throw new IllegalArgumentException(
        "%s is not, or no longer, registered with %s".formatted(registration, owner.label()));
  }

  /**
   * Checks that a range of a registration may be used so, and be moved at once.
   *
   * @throws IllegalArgumentException as {@link #own(Registration)} and {@link
   *     RdmaComm#checkLength}; and if it is not registered for that, or the range leaves it; one of
   *     no bytes never does
   */
  RdmaRegistration own(Registration registration, Use use, long offset, long lengthBytes) {
    if (!(registration instanceof RdmaRegistration ours)
        || !ours.open
        || !ours.owner.equals(owner)
        || !owner.isMessage(lengthBytes)) {
      owner.checkLength(lengthBytes);
      return own(registration);
    }
    if (!ours.uses.contains(use)) {
      throw new IllegalArgumentException(
          "%s is registered for %s, not for %s".formatted(ours, ours.uses, use));
    }
    if (lengthBytes > 0 && (offset < 0 || offset > ours.memory().lengthBytes() - lengthBytes)) {
      throw new IllegalArgumentException(
          "%d bytes at offset %d are not within %s".formatted(lengthBytes, offset, ours));
    }
    return ours;
  }

  /**
   * Registers memory; without the endpoint's lock.
   *
   * @throws TransportException if the NICs, or the driver of a GPU, refuse
   * @throws IllegalStateException if the communicator was closed meanwhile
   */
  Registration register(Memory memory, Set<Use> wanted) {
    boolean flushed = owner.flushes(memory.kind());
    long access =
        wanted.stream().mapToLong(use -> Rights.of(use, flushed)).reduce(0, (a, b) -> a | b);
    RdmaRegistration registration;
    try {
      registration =
          memory.kind() == MemoryKind.HOST
              ? new RdmaRegistration(
                  owner, memory, wanted, acquire(range(memory), wanted, access), null, "host")
              : deviceBuffers.register(memory, wanted, access);
    } catch (RegistrationException e) {
      throw refused(e);
    } catch (FabricException e) {
      throw new TransportException(FailureCause.FABRIC, owner.label() + ": " + e.getMessage(), e);
    }
    try (var _ = owner.lock.rare()) {
      if (!ended) {
        open.add(registration);
        return registration;
      }
    }
    registration.end();
    registration.release();
    throw new IllegalStateException(owner.label() + " was closed meanwhile");
  }

  private static BufferRange range(Memory memory) {
    MemorySegment segment = memory.segment();
    BufferRange range =
        segment == null
            ? BufferRange.host(memory.address(), memory.lengthBytes())
            : BufferRange.host(segment);
    DmaBuf piece = memory.dmaBuf();
    return piece == null ? range : range.through(piece);
  }

  /**
   * Registers a range on the endpoint's data rails. What the peer reaches when it likes shares no
   * registration with what it does not.
   */
  DataRegistration acquire(BufferRange range, Set<Use> uses, long access) {
    return acquire(Rights.expose(uses) ? range.ofUnknownAllocation() : range, access);
  }

  DataRegistration acquire(BufferRange range, long access) {
    return registrations.acquire(range, access);
  }

  /** What a caller gets to know of a refusal. */
  TransportException refused(RegistrationException why) {
    return new TransportException(
        Refusal.cause(why, FailureCause.EXHAUSTED), owner.label() + ": " + why.getMessage(), why);
  }

  /** As {@link Registration#close}. */
  void close(RdmaRegistration registration) {
    try (var _ = owner.lock.rare()) {
      if (!registration.open) {
        return;
      }
      long user = uses.user(registration);
      if (user != 0) {
        throw new IllegalStateException(
            "%s: request 0x%x, whose operations are not over, uses %s"
                .formatted(owner.label(), user, registration));
      }
      open.remove(registration);
      registration.end();
    }
    registration.release();
  }

  /** Adds blocks that a staged message waits for. Without the endpoint's lock. */
  void grow() {
    deviceBuffers.grow();
  }

  /**
   * The communicator is closed. With the endpoint's lock held.
   *
   * @param inUse whether a NIC may still use some of it: it is kept until the NICs are closed then
   * @return what closes the rest, without the lock
   */
  List<Runnable> end(boolean inUse) {
    ended = true;
    List<Runnable> closing = new ArrayList<>();
    if (inUse) {
      open.forEach(registration -> device.reachable.add(registration.memory()));
      uses.memory().forEach(device.reachable::add);
    }
    for (RdmaRegistration registration : open) {
      registration.end();
      closing.add(registration::release);
    }
    open.clear();
    List<StagingSpace> blocks = deviceBuffers.abandon();
    if (inUse) {
      device.kept.addAll(blocks);
    } else {
      blocks.forEach(space -> closing.add(space::close));
    }
    return closing;
  }
}

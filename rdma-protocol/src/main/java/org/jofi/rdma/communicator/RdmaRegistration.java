package org.jofi.rdma.communicator;

import java.util.Set;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.staging.StagingSpace;
import org.jofi.transport.Memory;
import org.jofi.transport.Registration;
import org.jofi.transport.RemoteMemory;
import org.jofi.transport.Use;
import org.jspecify.annotations.Nullable;

/** A lease of a registration with the NICs, for a communicator; or memory that is staged. */
final class RdmaRegistration implements Registration {
  final RdmaComm owner;
  // Its segment is dropped with the lease.
  private volatile Memory memory;
  final Set<Use> uses;

  /** What the NICs know it as; null if it is staged. */
  final @Nullable DataRegistration data;

  private final @Nullable StagingSpace space;
  private final String path;
  // Written with the endpoint's lock held.
  volatile boolean open = true;

  RdmaRegistration(
      RdmaComm owner,
      Memory memory,
      Set<Use> uses,
      @Nullable DataRegistration data,
      @Nullable StagingSpace space,
      String path) {
    this.owner = owner;
    this.memory = memory;
    this.uses = uses;
    this.data = data;
    this.space = space;
    this.path = path;
  }

  @Override
  public Memory memory() {
    return memory;
  }

  @Override
  public boolean isStaged() {
    return space != null;
  }

  @Override
  public String path() {
    return path;
  }

  @Override
  public RemoteMemory remote() {
    if (!open) {
      throw new IllegalStateException(this + " is closed");
    }
    DataRegistration data = data();
    if (!Rights.expose(uses)) {
      throw new IllegalStateException(
          "%s is registered for %s, not for the peer: add PEER_READS or PEER_WRITES"
              .formatted(this, uses));
    }
    long[] addresses = new long[data.rails()];
    long[] keys = new long[data.rails()];
    for (int rail = 0; rail < keys.length; rail++) {
      addresses[rail] = data.remoteAddress(rail, memory.address());
      keys[rail] = data.key(rail);
    }
    return RemoteMemory.of(memory.lengthBytes(), addresses, keys);
  }

  @Override
  public boolean isOpen() {
    return open && (data == null || data.isOpen());
  }

  @Override
  public void close() {
    owner.memory.close(this);
  }

  /** What the NICs know it as; refuses staged memory. */
  DataRegistration data() {
    if (data == null) {
      throw new IllegalStateException(
          "%s is %s: only messages can use it, no one-sided operation".formatted(this, path));
    }
    return data;
  }

  StagingSpace space() {
    if (space == null) {
      throw new IllegalStateException(this + " is not staged");
    }
    return space;
  }

  /** Ends it, once. With the endpoint's lock held. */
  void end() {
    open = false;
    memory = memory.withoutSegment();
  }

  /** Gives the lease back, once, after its end. Without the lock, since NICs may take long. */
  void release() {
    if (data != null) {
      data.release();
    }
  }

  @Override
  public String toString() {
    return "registration of " + memory;
  }
}

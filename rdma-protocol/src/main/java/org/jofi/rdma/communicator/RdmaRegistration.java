package org.jofi.rdma.communicator;

import org.jofi.fabric.MemoryKind;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.staging.StagingSpace;
import org.jofi.transport.Buffer;
import org.jofi.transport.Registration;
import org.jofi.transport.RemoteMemory;
import org.jspecify.annotations.Nullable;

/** A lease of a registration with the NICs, for a communicator; or memory that is staged. */
final class RdmaRegistration implements Registration {
  private final RdmaComm owner;
  // Its segment is dropped with the lease.
  private volatile Buffer buffer;
  private final @Nullable DataRegistration data;
  private final @Nullable StagingSpace space;
  private final String path;
  private final Runnable afterwards;
  // Written with the endpoint's lock held.
  private volatile boolean open = true;

  RdmaRegistration(RdmaComm owner, Buffer buffer, DataRegistration data, String path) {
    this(owner, buffer, data, null, path, () -> {});
  }

  /**
   * @param data what the NICs know it as; null if it is staged
   * @param space what it is staged through; null if it is not
   * @param path how it is reached, in words
   * @param afterwards what to do when it was given back
   */
  RdmaRegistration(
      RdmaComm owner,
      Buffer buffer,
      @Nullable DataRegistration data,
      @Nullable StagingSpace space,
      String path,
      Runnable afterwards) {
    this.owner = owner;
    this.buffer = buffer;
    this.data = data;
    this.space = space;
    this.path = path;
    this.afterwards = afterwards;
  }

  @Override
  public long address() {
    return buffer.address();
  }

  @Override
  public long lengthBytes() {
    return buffer.lengthBytes();
  }

  @Override
  public MemoryKind kind() {
    return buffer.kind();
  }

  @Override
  public String path() {
    return path;
  }

  @Override
  public RemoteMemory remote() {
    if (!open) {
      throw new IllegalStateException(this + " was deregistered");
    }
    DataRegistration data = data();
    long[] addresses = new long[data.rails()];
    long[] keys = new long[data.rails()];
    for (int rail = 0; rail < keys.length; rail++) {
      addresses[rail] = data.remoteAddress(rail, buffer.address());
      keys[rail] = data.key(rail);
    }
    return RemoteMemory.of(buffer.lengthBytes(), addresses, keys);
  }

  /**
   * What the NICs know it as.
   *
   * @throws IllegalStateException if it is staged: they do not
   */
  DataRegistration data() {
    DataRegistration known = data;
    if (known == null) {
      throw new IllegalStateException(
          "%s is %s: only messages can use it, no one-sided operation".formatted(this, path));
    }
    return known;
  }

  /** What it is staged through; null if it is not. */
  @Nullable StagingSpace space() {
    return space;
  }

  boolean isOf(RdmaComm comm) {
    return open && owner.equals(comm);
  }

  /** Gives the lease back; a second call does nothing. */
  void release() {
    if (open) {
      open = false;
      DataRegistration known = data;
      if (known != null) {
        known.release();
      }
      buffer = buffer.withoutSegment();
      afterwards.run();
    }
  }

  /**
   * @throws IllegalArgumentException if a range leaves it; one of no bytes never does
   */
  void check(long address, long lengthBytes) {
    if (lengthBytes < 0
        || (lengthBytes > 0
            && (address - buffer.address() < 0
                || lengthBytes > buffer.lengthBytes()
                || address - buffer.address() > buffer.lengthBytes() - lengthBytes))) {
      throw new IllegalArgumentException(
          "%d bytes at 0x%x are not within %s".formatted(lengthBytes, address, this));
    }
  }

  @Override
  public String toString() {
    return "registration of %d bytes of %s memory at 0x%x"
        .formatted(buffer.lengthBytes(), buffer.kind(), buffer.address());
  }
}

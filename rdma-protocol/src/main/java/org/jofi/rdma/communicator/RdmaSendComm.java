package org.jofi.rdma.communicator;

import java.lang.foreign.MemorySegment;
import org.jofi.fabric.MemoryKind;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.connect.SendConnection;
import org.jofi.rdma.device.DeviceEndpoint;
import org.jofi.rdma.staging.StagingSpace;
import org.jofi.transport.Registration;
import org.jofi.transport.SendComm;
import org.jofi.transport.Use;

/** The connector's communicator. */
final class RdmaSendComm extends RdmaComm implements SendComm {
  /** A further send waits for blocks; one that has them goes on by itself. */
  private static final int STAGED_AT_ONCE = 16;

  private final SendConnection connection;

  RdmaSendComm(RdmaDevice device, DeviceEndpoint endpoint, SendConnection connection) {
    super(device, endpoint, connection, "send communicator", STAGED_AT_ONCE);
    this.connection = connection;
  }

  @Override
  public long isend(MemorySegment segment, long offset, long lengthBytes, int tag) {
    try (var _ = callers.call()) {
      checkLength(lengthBytes);
      checkOpen();
      DataRegistration lease = memory.segments.use(segment, offset, lengthBytes, Rights.SENT);
      try {
        return post(segment.address() + offset, lengthBytes, tag, lease, segment);
      } finally {
        lease.endUse();
      }
    }
  }

  @Override
  public long isend(Registration registration, long offset, long lengthBytes, int tag) {
    try (var _ = callers.call()) {
      RdmaRegistration ours = memory.own(registration, Use.SEND, offset, lengthBytes);
      long address = ours.memory().address() + offset;
      DataRegistration lease = ours.data;
      return lease == null
          ? stage(ours, address, lengthBytes, tag)
          : post(address, lengthBytes, tag, lease, ours);
    }
  }

  private long post(long address, long lengthBytes, int tag, DataRegistration lease, Object used) {
    try (var _ = lock.posting()) {
      checkOpen();
      long request = connection.sender.send(address, lengthBytes, tag, lease, null);
      return posted(request, used);
    }
  }

  private long stage(RdmaRegistration ours, long address, long lengthBytes, int tag) {
    StagingSpace space = ours.space();
    long request;
    try (var _ = lock.posting()) {
      checkOpen();
      request = connection.sender.send(address, lengthBytes, tag, null, space);
      memory.uses.add(request, ours);
      events.posted(request);
    }
    space.grow();
    return request;
  }

  @Override
  boolean flushes(MemoryKind kind) {
    return false;
  }

  @Override
  String messages() {
    return "send";
  }

  @Override
  long blockAccess() {
    return Rights.SENT;
  }

  @Override
  public boolean cancel(long request) {
    try (var _ = callers.call();
        var _ = lock.posting()) {
      checkOpen();
      boolean cancelled = connection.sender.cancel(request);
      if (cancelled) {
        memory.uses.over(request);
      }
      return cancelled;
    }
  }
}

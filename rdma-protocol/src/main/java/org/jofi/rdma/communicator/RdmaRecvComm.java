package org.jofi.rdma.communicator;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jofi.fabric.MemoryKind;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.connect.ReceiveConnection;
import org.jofi.rdma.device.DeviceEndpoint;
import org.jofi.rdma.staging.StagingSpace;
import org.jofi.rdma.wire.ProtocolLimits;
import org.jofi.transport.Failure;
import org.jofi.transport.FlushPolicy;
import org.jofi.transport.ReceiveGroup;
import org.jofi.transport.RecvComm;
import org.jofi.transport.Registration;
import org.jofi.transport.Result;
import org.jofi.transport.Use;
import org.jspecify.annotations.Nullable;

/** The accepting side's communicator. */
final class RdmaRecvComm extends RdmaComm implements RecvComm {
  private static final int GROUP = ProtocolLimits.MAX_GROUP;

  /** Sets of blocks of a size. */
  private static final int STAGED_AT_ONCE = 128;

  private final ReceiveConnection connection;
  private final FlushPolicy flushPolicy;
  // Used by the thread that posts, so that a receive allocates nothing.
  private final long[] addresses = new long[GROUP];
  private final long[] lengths = new long[GROUP];
  private final int[] tags = new int[GROUP];
  private final DataRegistration[] data = new DataRegistration[GROUP];
  private final @Nullable Object[] used = new @Nullable Object[GROUP];

  RdmaRecvComm(RdmaDevice device, DeviceEndpoint endpoint, ReceiveConnection connection) {
    super(device, endpoint, connection, "receive communicator", STAGED_AT_ONCE);
    this.connection = connection;
    flushPolicy = device.options.flushPolicy();
  }

  @Override
  public long irecv(MemorySegment segment, long offset, long lengthBytes, int tag) {
    try (var _ = callers.call()) {
      checkOpen();
      DataRegistration lease = use(segment, offset, lengthBytes);
      try {
        return post(segment.address() + offset, lengthBytes, tag, lease, segment);
      } finally {
        lease.endUse();
      }
    }
  }

  private DataRegistration use(MemorySegment segment, long offset, long lengthBytes) {
    checkLength(lengthBytes);
    return memory.segments.use(segment, offset, lengthBytes, Rights.RECEIVED);
  }

  @Override
  public long irecv(Registration registration, long offset, long lengthBytes, int tag) {
    try (var _ = callers.call()) {
      checkOpen();
      RdmaRegistration ours = memory.own(registration, Use.RECEIVE, offset, lengthBytes);
      long address = ours.memory().address() + offset;
      DataRegistration lease = ours.data;
      if (lease == null) {
        long request = stage(ours, address, lengthBytes, tag);
        return request == Result.TRY_AGAIN && ours.space().grow()
            ? stage(ours, address, lengthBytes, tag)
            : request;
      }
      return post(address, lengthBytes, tag, lease, ours);
    }
  }

  private long post(long address, long lengthBytes, int tag, DataRegistration lease, Object of) {
    try (var _ = lock.posting()) {
      checkOpen();
      addresses[0] = address;
      lengths[0] = lengthBytes;
      tags[0] = tag;
      data[0] = lease;
      long request = receive(1);
      return posted(request, of);
    }
  }

  @Override
  public long irecv(ReceiveGroup group) {
    int count = group.size();
    if (count < 1 || count > GROUP) {
      throw new IllegalArgumentException(
          "%s groups 1 to %d receives, not %d".formatted(label(), GROUP, count));
    }
    checkOpen();
    int found = 0;
    try (var _ = callers.call()) {
      for (; found < count; found++) {
        take(group, found);
      }
      try (var _ = lock.posting()) {
        checkOpen();
        long request = receive(count);
        memory.uses.add(request, count, used);
        events.posted(request);
        return request;
      }
    } finally {
      for (int i = 0; i < found; i++) {
        if (group.segment(i) != null) {
          data[i].endUse();
        }
        used[i] = null;
      }
    }
  }

  private void take(ReceiveGroup group, int at) {
    MemorySegment segment = group.segment(at);
    long offset = group.offset(at);
    lengths[at] = group.lengthBytes(at);
    tags[at] = group.tag(at);
    if (segment == null) {
      Registration registration = Objects.requireNonNull(group.registration(at));
      data[at] = data(registration, at, offset, lengths[at]);
      used[at] = registration;
    } else {
      data[at] = use(segment, offset, lengths[at]);
      addresses[at] = segment.address() + offset;
      used[at] = segment;
    }
  }

  private DataRegistration data(Registration registration, int at, long offset, long lengthBytes) {
    RdmaRegistration ours = memory.own(registration, Use.RECEIVE, offset, lengthBytes);
    DataRegistration lease = ours.data;
    if (lease == null) {
      throw new IllegalArgumentException(
          "%s is %s: receive it by itself, not in a group".formatted(ours, ours.path()));
    }
    addresses[at] = ours.memory().address() + offset;
    return lease;
  }

  private long stage(RdmaRegistration ours, long address, long lengthBytes, int tag) {
    try (var _ = lock.posting()) {
      checkOpen();
      StagingSpace space = ours.space();
      long request = connection.receiver.receiveStaged(space, address, lengthBytes, tag);
      if (request == Result.TRY_AGAIN) {
        endpoint.help();
        request = connection.receiver.receiveStaged(space, address, lengthBytes, tag);
      }
      return posted(request, ours);
    }
  }

  private long receive(int count) {
    long request = connection.receiver.receive(count, addresses, lengths, tags, data);
    if (request == Result.TRY_AGAIN) {
      endpoint.help();
      request = connection.receiver.receive(count, addresses, lengths, tags, data);
    }
    return request;
  }

  @Override
  public long test(long request, long[] into) {
    return result(request, Objects.requireNonNull(into));
  }

  @Override
  long poll(long request, long @Nullable [] into) {
    return into == null ? connection.test(request) : connection.test(request, into);
  }

  @Override
  public int lengths(long request, long[] into) {
    try (var _ = callers.call();
        var _ = lock.rare()) {
      return connection.receiver.lengths(request, into);
    }
  }

  @Override
  public long iflush(Registration registration, long offset, long lengthBytes) {
    try (var _ = callers.call()) {
      RdmaRegistration own = memory.own(registration, Use.RECEIVE, offset, lengthBytes);
      long address = own.memory().address() + offset;
      try (var _ = lock.posting()) {
        checkOpen();
        if (lengthBytes == 0 || own.isStaged() || !flushes(own.memory().kind())) {
          return Result.NOTHING_TO_DO;
        }
        long request = connection.flushes.flush(address, lengthBytes, own.data());
        if (request == Result.TRY_AGAIN) {
          endpoint.help();
          request = connection.flushes.flush(address, lengthBytes, own.data());
        }
        return posted(request, own);
      }
    }
  }

  @Override
  boolean flushes(MemoryKind kind) {
    return switch (flushPolicy) {
      case AUTO -> kind != MemoryKind.HOST;
      case ALWAYS -> true;
      case NEVER -> false;
    };
  }

  @Override
  String messages() {
    return "receive";
  }

  @Override
  long blockAccess() {
    return Rights.RECEIVED;
  }

  @Override
  public String flushReason(Registration registration) {
    RdmaRegistration own = memory.own(registration);
    if (own.isStaged()) {
      return "not flushed: a staged receive is over when the last copy to the device is";
    }
    MemoryKind kind = own.memory().kind();
    Failure refusal = flushes(kind) ? connection.link.sink.ownReadRefusal() : null;
    if (refusal != null) {
      return "cannot be flushed: " + refusal;
    }
    return switch (flushPolicy) {
      case AUTO ->
          kind == MemoryKind.HOST
              ? "not flushed: completions of host memory imply that it is visible"
              : "flushed: writes to %s memory may still be on the bus at completion"
                  .formatted(kind);
      case ALWAYS -> "flushed: as configured, for all memory";
      case NEVER -> "not flushed: as configured, something else makes the data visible";
    };
  }
}

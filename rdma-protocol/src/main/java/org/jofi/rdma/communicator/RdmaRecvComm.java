package org.jofi.rdma.communicator;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jofi.fabric.MemoryKind;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.device.DeviceEndpoint;
import org.jofi.rdma.engine.ReceiveConnection;
import org.jofi.rdma.staging.StagingSpace;
import org.jofi.rdma.wire.ProtocolLimits;
import org.jofi.transport.Failure;
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
  private final FlushNeed flushNeed;
  // Used with the endpoint's lock held, so that a receive allocates nothing.
  private final long[] addresses = new long[GROUP];
  private final long[] lengths = new long[GROUP];
  private final int[] tags = new int[GROUP];
  private final DataRegistration[] data = new DataRegistration[GROUP];
  // Used by the thread that posts a group, before it has the lock.
  private final DataRegistration[] using = new DataRegistration[GROUP];
  private final long[] starts = new long[GROUP];

  RdmaRecvComm(RdmaDevice device, DeviceEndpoint endpoint, ReceiveConnection connection) {
    super(device, endpoint, connection, "receive communicator", STAGED_AT_ONCE);
    this.connection = connection;
    flushNeed = new FlushNeed(device.options().flushPolicy());
  }

  @Override
  public long irecv(MemorySegment segment, long offset, long lengthBytes, int tag) {
    checkOpen();
    DataRegistration memory = use(segment, offset, lengthBytes);
    return post(segment.address() + offset, lengthBytes, tag, memory, segment);
  }

  private DataRegistration use(MemorySegment segment, long offset, long lengthBytes) {
    checkLength(lengthBytes);
    return memory().segments().use(segment, offset, lengthBytes, Rights.RECEIVED);
  }

  @Override
  public long irecv(Registration registration, long offset, long lengthBytes, int tag) {
    checkOpen();
    RdmaRegistration ours = memory().own(registration, Use.RECEIVE, offset, lengthBytes);
    long address = ours.memory().address() + offset;
    DataRegistration memory = ours.registered();
    if (memory == null) {
      long request = stage(ours, address, lengthBytes, tag);
      return request == Result.TRY_AGAIN && ours.space().grow()
          ? stage(ours, address, lengthBytes, tag)
          : request;
    }
    return memory.beginUse()
        ? post(address, lengthBytes, tag, memory, ours)
        : refuse(connection.receiver().requests(), "irecv");
  }

  /** Posts a receive whose use of its registration has begun; that ends if there is no request. */
  private long post(long address, long lengthBytes, int tag, DataRegistration memory, Object used) {
    long request = Result.TRY_AGAIN;
    try (var _ = lock().posting()) {
      checkOpen();
      addresses[0] = address;
      lengths[0] = lengthBytes;
      tags[0] = tag;
      data[0] = memory;
      request = receive(1, lengths, tags);
      memory().uses().add(request, used);
      return request;
    } finally {
      if (request == Result.TRY_AGAIN) {
        memory.endUse();
      }
    }
  }

  @Override
  public long irecv(
      int count, MemorySegment[] segments, long[] offsets, long[] bytes, int[] tagged) {
    checkGroup(count, segments.length, offsets, bytes, tagged);
    checkOpen();
    int used = 0;
    long request = Result.TRY_AGAIN;
    try {
      for (; used < count; used++) {
        using[used] = use(segments[used], offsets[used], bytes[used]);
        starts[used] = segments[used].address() + offsets[used];
      }
      request = post(count, bytes, tagged, segments);
      return request;
    } finally {
      endUses(request, used);
    }
  }

  @Override
  public long irecv(
      int count, Registration[] registrations, long[] offsets, long[] bytes, int[] tagged) {
    checkGroup(count, registrations.length, offsets, bytes, tagged);
    checkOpen();
    int used = 0;
    long request = Result.TRY_AGAIN;
    try {
      for (; used < count; used++) {
        RdmaRegistration ours =
            memory().own(registrations[used], Use.RECEIVE, offsets[used], bytes[used]);
        DataRegistration memory = ours.registered();
        if (memory == null) {
          throw new IllegalArgumentException(
              "%s is %s: receive it by itself, not in a group".formatted(ours, ours.path()));
        }
        if (!memory.beginUse()) {
          return refuse(connection.receiver().requests(), "irecv");
        }
        using[used] = memory;
        starts[used] = ours.memory().address() + offsets[used];
      }
      request = post(count, bytes, tagged, registrations);
      return request;
    } finally {
      endUses(request, used);
    }
  }

  /** Posts a group, whose uses have begun. */
  private long post(int count, long[] bytes, int[] tagged, Object[] used) {
    try (var _ = lock().posting()) {
      checkOpen();
      System.arraycopy(starts, 0, addresses, 0, count);
      System.arraycopy(using, 0, data, 0, count);
      long request = receive(count, bytes, tagged);
      memory().uses().add(request, count, used);
      return request;
    }
  }

  private void endUses(long request, int used) {
    for (int i = 0; i < used && request == Result.TRY_AGAIN; i++) {
      using[i].endUse();
    }
  }

  private void checkGroup(int count, int memories, long[] offsets, long[] bytes, int[] tagged) {
    if (count < 1 || count > GROUP) {
      throw new IllegalArgumentException(
          "%s groups 1 to %d receives, not %d".formatted(label(), GROUP, count));
    }
    if (memories < count
        || offsets.length < count
        || bytes.length < count
        || tagged.length < count) {
      throw new IllegalArgumentException(
          "%s: a group of %d receives needs arrays as long".formatted(label(), count));
    }
  }

  private long stage(RdmaRegistration ours, long address, long lengthBytes, int tag) {
    try (var _ = lock().posting()) {
      checkOpen();
      StagingSpace space = ours.space();
      long request = connection.receiver().receiveStaged(space, address, lengthBytes, tag);
      if (request == Result.TRY_AGAIN) {
        endpoint().help();
        request = connection.receiver().receiveStaged(space, address, lengthBytes, tag);
      }
      memory().uses().add(request, ours);
      return request;
    }
  }

  private long receive(int count, long[] bytes, int[] tagged) {
    long request = connection.receiver().receive(count, addresses, bytes, tagged, data);
    if (request == Result.TRY_AGAIN) {
      endpoint().help();
      request = connection.receiver().receive(count, addresses, bytes, tagged, data);
    }
    return request;
  }

  @Override
  public long test(long request, long[] into) {
    return result(request, Objects.requireNonNull(into));
  }

  @Override
  long look(long request, long @Nullable [] into) {
    return into == null ? connection.test(request) : connection.test(request, into);
  }

  @Override
  public int lengths(long request, long[] into) {
    try (var _ = lock().rare()) {
      return connection.receiver().lengths(request, into);
    }
  }

  @Override
  public long iflush(Registration registration, long offset, long lengthBytes) {
    RdmaRegistration own = memory().own(registration, Use.RECEIVE, offset, lengthBytes);
    long address = own.memory().address() + offset;
    try (var _ = lock().posting()) {
      checkOpen();
      if (lengthBytes == 0 || own.isStaged() || !flushes(own.memory().kind())) {
        return Result.NOTHING_TO_DO;
      }
      long request = connection.flush(address, lengthBytes, own.data());
      if (request == Result.TRY_AGAIN) {
        endpoint().help();
        request = connection.flush(address, lengthBytes, own.data());
      }
      memory().uses().add(request, own);
      return request;
    }
  }

  @Override
  boolean flushes(MemoryKind kind) {
    return flushNeed.isNeeded(kind);
  }

  @Override
  long blockAccess() {
    return Rights.RECEIVED;
  }

  @Override
  public String flushReason(Registration registration) {
    RdmaRegistration own = memory().own(registration);
    if (own.isStaged()) {
      return "not flushed: a staged receive is over when the last copy to the device is";
    }
    Failure refusal = flushNeed.isNeeded(own.memory().kind()) ? connection.flushRefusal() : null;
    return refusal == null
        ? flushNeed.reason(own.memory().kind())
        : "cannot be flushed: " + refusal;
  }
}

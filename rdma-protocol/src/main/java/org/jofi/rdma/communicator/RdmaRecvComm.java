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
  // Used by the thread that posts a group of segments, before it has the lock.
  private final DataRegistration[] using = new DataRegistration[GROUP];

  RdmaRecvComm(RdmaDevice device, DeviceEndpoint endpoint, ReceiveConnection connection) {
    super(device, endpoint, connection, "receive communicator", STAGED_AT_ONCE);
    this.connection = connection;
    flushNeed = new FlushNeed(device.options().flushPolicy());
  }

  @Override
  public long irecv(MemorySegment segment, long offset, long lengthBytes, int tag) {
    checkOpen();
    DataRegistration memory = use(segment, offset, lengthBytes);
    long request = Result.TRY_AGAIN;
    try (var _ = lock().posting()) {
      checkOpen();
      addresses[0] = segment.address() + offset;
      lengths[0] = lengthBytes;
      tags[0] = tag;
      data[0] = memory;
      request = post(1, lengths, tags, true);
      uses().add(request, segment);
      return request;
    } finally {
      if (request == Result.TRY_AGAIN) {
        memory.endUse();
      }
    }
  }

  private DataRegistration use(MemorySegment segment, long offset, long lengthBytes) {
    checkLength(lengthBytes);
    return segments().use(segment, offset, lengthBytes, Rights.RECEIVED);
  }

  @Override
  public long irecv(Registration registration, long offset, long lengthBytes, int tag) {
    try (var _ = lock().posting()) {
      checkOpen();
      RdmaRegistration own = own(registration);
      StagingSpace space = own.space();
      if (space != null) {
        return stage(space, own, offset, lengthBytes, tag);
      }
      lengths[0] = lengthBytes;
      tags[0] = tag;
      take(0, registration, offset, lengthBytes);
      long request = post(1, lengths, tags, false);
      uses().add(request, own);
      return request;
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
      }
      try (var _ = lock().posting()) {
        checkOpen();
        for (int i = 0; i < count; i++) {
          addresses[i] = segments[i].address() + offsets[i];
          data[i] = using[i];
        }
        request = post(count, bytes, tagged, true);
        uses().add(request, count, segments);
        return request;
      }
    } finally {
      for (int i = 0; i < used && request == Result.TRY_AGAIN; i++) {
        using[i].endUse();
      }
    }
  }

  @Override
  public long irecv(
      int count, Registration[] registrations, long[] offsets, long[] bytes, int[] tagged) {
    checkGroup(count, registrations.length, offsets, bytes, tagged);
    try (var _ = lock().posting()) {
      checkOpen();
      for (int i = 0; i < count; i++) {
        take(i, registrations[i], offsets[i], bytes[i]);
      }
      long request = post(count, bytes, tagged, false);
      uses().add(request, count, registrations);
      return request;
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

  private long stage(
      StagingSpace space, RdmaRegistration own, long offset, long lengthBytes, int tag) {
    checkLength(lengthBytes);
    long address = own.address(Use.RECEIVE, offset, lengthBytes);
    long request = connection.receiver().receiveStaged(space, address, lengthBytes, tag);
    if (request == Result.TRY_AGAIN) {
      endpoint().help();
      request = connection.receiver().receiveStaged(space, address, lengthBytes, tag);
    }
    uses().add(request, own);
    return request;
  }

  private void take(int index, Registration registration, long offset, long lengthBytes) {
    RdmaRegistration own = own(registration);
    checkLength(lengthBytes);
    addresses[index] = own.address(Use.RECEIVE, offset, lengthBytes);
    if (own.space() != null) {
      throw new IllegalArgumentException(
          "%s is %s: receive it by itself, not in a group".formatted(own, own.path()));
    }
    data[index] = own.data();
  }

  private long post(int count, long[] bytes, int[] tagged, boolean begun) {
    long request = connection.receiver().receive(count, addresses, bytes, tagged, data, begun);
    if (request == Result.TRY_AGAIN) {
      endpoint().help();
      request = connection.receiver().receive(count, addresses, bytes, tagged, data, begun);
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
    RdmaRegistration own = own(registration);
    long address = own.address(Use.RECEIVE, offset, lengthBytes);
    try (var _ = lock().posting()) {
      checkOpen();
      if (lengthBytes == 0 || own.space() != null || !flushes(own.memory().kind())) {
        return Result.NOTHING_TO_DO;
      }
      long request = connection.flush(address, lengthBytes, own.data());
      if (request == Result.TRY_AGAIN) {
        endpoint().help();
        request = connection.flush(address, lengthBytes, own.data());
      }
      uses().add(request, own);
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
    RdmaRegistration own = own(registration);
    if (own.space() != null) {
      return "not flushed: a staged receive is over when the last copy to the device is";
    }
    Failure refusal = flushNeed.isNeeded(own.memory().kind()) ? connection.flushRefusal() : null;
    return refusal == null
        ? flushNeed.reason(own.memory().kind())
        : "cannot be flushed: " + refusal;
  }
}

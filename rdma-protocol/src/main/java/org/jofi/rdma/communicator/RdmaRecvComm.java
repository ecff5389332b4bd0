package org.jofi.rdma.communicator;

import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.device.DeviceEndpoint;
import org.jofi.rdma.engine.ReceiveConnection;
import org.jofi.rdma.staging.StagingSpace;
import org.jofi.rdma.wire.ProtocolLimits;
import org.jofi.transport.Failure;
import org.jofi.transport.RecvComm;
import org.jofi.transport.Registration;
import org.jofi.transport.Result;

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
  private final RdmaRegistration[] ours = new RdmaRegistration[GROUP];
  private final DataRegistration[] data = new DataRegistration[GROUP];

  RdmaRecvComm(RdmaDevice device, DeviceEndpoint endpoint, ReceiveConnection connection) {
    super(device, endpoint, connection, "receive communicator", STAGED_AT_ONCE);
    this.connection = connection;
    flushNeed = new FlushNeed(device.options().flushPolicy());
  }

  @Override
  public long irecv(long address, long lengthBytes, int tag, Registration registration) {
    try (var _ = lock().posting()) {
      checkOpen();
      RdmaRegistration own = own(registration);
      StagingSpace space = own.space();
      if (space != null) {
        return stage(space, address, lengthBytes, tag, own);
      }
      addresses[0] = address;
      lengths[0] = lengthBytes;
      tags[0] = tag;
      take(0, address, lengthBytes, registration);
      return post(1, addresses, lengths, tags);
    }
  }

  @Override
  public long irecv(
      int count, long[] from, long[] bytes, int[] tagged, Registration[] registrations) {
    if (count < 1 || count > GROUP) {
      throw new IllegalArgumentException(
          "%s groups 1 to %d receives, not %d".formatted(label(), GROUP, count));
    }
    if (from.length < count
        || bytes.length < count
        || tagged.length < count
        || registrations.length < count) {
      throw new IllegalArgumentException(
          "%s: a group of %d receives needs arrays as long".formatted(label(), count));
    }
    try (var _ = lock().posting()) {
      checkOpen();
      for (int i = 0; i < count; i++) {
        take(i, from[i], bytes[i], registrations[i]);
      }
      return post(count, from, bytes, tagged);
    }
  }

  private long stage(
      StagingSpace space, long address, long lengthBytes, int tag, RdmaRegistration own) {
    checkLength(lengthBytes);
    own.check(address, lengthBytes);
    long request = connection.receiver().receiveStaged(space, address, lengthBytes, tag);
    if (request == Result.TRY_AGAIN) {
      endpoint().help();
      request = connection.receiver().receiveStaged(space, address, lengthBytes, tag);
    }
    uses().add(request, own);
    return request;
  }

  private void take(int index, long address, long lengthBytes, Registration registration) {
    RdmaRegistration own = own(registration);
    checkLength(lengthBytes);
    own.check(address, lengthBytes);
    if (own.space() != null) {
      throw new IllegalArgumentException(
          "%s is %s: receive it by itself, not in a group".formatted(own, own.path()));
    }
    ours[index] = own;
    data[index] = own.data();
  }

  private long post(int count, long[] from, long[] bytes, int[] tagged) {
    long request = connection.receiver().receive(count, from, bytes, tagged, data);
    if (request == Result.TRY_AGAIN) {
      endpoint().help();
      request = connection.receiver().receive(count, from, bytes, tagged, data);
    }
    uses().add(request, count, ours);
    return request;
  }

  @Override
  public long test(long request, long[] into) {
    try (var hold = lock().testing(tester(), request)) {
      if (hold == null) {
        return Result.IN_PROGRESS;
      }
      long result = connection.test(request, into);
      if (result == Result.IN_PROGRESS && !isClosed()) {
        endpoint().help();
        result = connection.test(request, into);
      }
      return result;
    }
  }

  @Override
  public long iflush(long address, long lengthBytes, Registration registration) {
    RdmaRegistration own = own(registration);
    own.check(address, lengthBytes);
    try (var _ = lock().posting()) {
      checkOpen();
      if (lengthBytes == 0 || own.space() != null || !flushNeed.isNeeded(own.kind())) {
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
  public String flushReason(Registration registration) {
    RdmaRegistration own = own(registration);
    if (own.space() != null) {
      return "not flushed: a staged receive is over when the last copy to the device is";
    }
    Failure refusal = flushNeed.isNeeded(own.kind()) ? connection.flushRefusal() : null;
    return refusal == null ? flushNeed.reason(own.kind()) : "cannot be flushed: " + refusal;
  }
}

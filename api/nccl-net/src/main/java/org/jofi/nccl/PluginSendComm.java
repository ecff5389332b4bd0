package org.jofi.nccl;

import java.util.Objects;
import org.jofi.transport.Registration;
import org.jofi.transport.Result;
import org.jofi.transport.SendComm;
import org.jofi.transport.Use;
import org.jspecify.annotations.Nullable;

/** A communicator that sends. */
final class PluginSendComm extends PluginComm {
  private final SendComm comm;

  /** Of sends that are handed over, by slot. */
  private final long[] offsets = new long[RequestTable.CAPACITY];

  private final long[] lengths = new long[RequestTable.CAPACITY];
  private final int[] tags = new int[RequestTable.CAPACITY];
  private final @Nullable Registration[] registrations =
      new @Nullable Registration[RequestTable.CAPACITY];

  PluginSendComm(SendComm comm, RequestTable requests, CommGate gate, PluginLog log) {
    super(comm, requests, gate, log);
    this.comm = comm;
  }

  /**
   * Sends.
   *
   * @return a request's handle; 0 to try again later
   */
  long isend(long data, long size, int tag, Registration registration) {
    if (!tryEnter()) {
      return 0;
    }
    try {
      if (requests.isFull()) {
        return 0;
      }
      long offset = data - registration.memory().address();
      if (handsOver()) {
        return handOver(offset, size, tag, registration);
      }
      long id = comm.isend(registration, offset, size, tag);
      return id == Result.TRY_AGAIN ? 0 : requests.add(id, 0);
    } finally {
      leave();
    }
  }

  private long handOver(long offset, long size, int tag, Registration registration) {
    checkWithin(registration, offset, size);
    long request = requests.add(HandOver.HANDED_OVER, 0);
    int slot = requests.find(request);
    offsets[slot] = offset;
    lengths[slot] = size;
    tags[slot] = tag;
    registrations[slot] = registration;
    handOver(request);
    return request;
  }

  @Override
  public long post(int slot) {
    return comm.isend(
        Objects.requireNonNull(registrations[slot]), offsets[slot], lengths[slot], tags[slot]);
  }

  @Override
  Use use() {
    return Use.SEND;
  }

  @Override
  public long test(int slot, long id) {
    return comm.test(id);
  }

  @Override
  void putSizes(int slot, long result, long sizes) {
    RawMemory.putInt(sizes, (int) result);
  }
}

package org.jofi.nccl;

import org.jofi.transport.RecvComm;
import org.jofi.transport.Registration;
import org.jofi.transport.Result;
import org.jofi.transport.Use;
import org.jspecify.annotations.Nullable;

/** A communicator that receives. */
final class PluginRecvComm extends PluginComm {
  /** Largest number of receives in a group. */
  static final int MAX_RECEIVES = 8;

  /** Largest number of flushes at once: as many as NCCL's requests per communicator. */
  static final int MAX_FLUSHES = 32;

  private static final long POINTER_BYTES = 8;

  private final RecvComm comm;
  private final long[] offsets = new long[MAX_RECEIVES];
  private final long[] lengths = new long[MAX_RECEIVES];
  private final int[] tags = new int[MAX_RECEIVES];
  private final Registration[] registrations = new Registration[MAX_RECEIVES];
  private final FlushGroup[] flushes = new FlushGroup[MAX_FLUSHES];

  PluginRecvComm(RecvComm comm, RequestTable requests, CommGate gate, PluginLog log) {
    super(comm, requests, gate, log);
    this.comm = comm;
    for (int flush = 0; flush < MAX_FLUSHES; flush++) {
      flushes[flush] = new FlushGroup(comm);
    }
  }

  /**
   * Receives.
   *
   * @param count 1 to {@link #MAX_RECEIVES}
   * @param data address of {@code count} pointers
   * @param sizes address of {@code count} size_t
   * @param tagged address of {@code count} int
   * @param handles address of {@code count} handles of regions
   * @return a request's handle; 0 to try again later
   */
  long irecv(
      int count, long data, long sizes, long tagged, long handles, HandleTable<Region> regions) {
    if (!tryEnter()) {
      return 0;
    }
    try {
      if (requests.isFull()) {
        return 0;
      }
      for (int part = 0; part < count; part++) {
        lengths[part] = RawMemory.getLong(sizes + part * POINTER_BYTES);
        tags[part] = RawMemory.getInt(tagged + part * (long) Integer.BYTES);
        registrations[part] =
            regions.get(RawMemory.getLong(handles + part * POINTER_BYTES)).registration();
        offsets[part] =
            RawMemory.getLong(data + part * POINTER_BYTES) - registrations[part].memory().address();
      }
      long id =
          count == 1
              ? comm.irecv(registrations[0], offsets[0], lengths[0], tags[0])
              : comm.irecv(count, registrations, offsets, lengths, tags);
      return id == Result.TRY_AGAIN ? 0 : requests.add(id, count);
    } finally {
      leave();
    }
  }

  /**
   * Flushes received data.
   *
   * @param sizes address of one int per buffer
   * @return a request's handle; 0 if there is nothing to wait for
   * @throws IllegalStateException if {@link #MAX_FLUSHES} are in flight
   */
  long iflush(int count, long data, long sizes, long handles, HandleTable<Region> regions) {
    enter();
    try {
      int index = freeFlush();
      FlushGroup flush = flushes[index];
      flush.begin();
      for (int part = 0; part < count; part++) {
        int length = RawMemory.getInt(sizes + part * (long) Integer.BYTES);
        if (length > 0) {
          flush.add(
              RawMemory.getLong(data + part * POINTER_BYTES),
              length,
              regions.get(RawMemory.getLong(handles + part * POINTER_BYTES)).registration());
        }
      }
      if (flush.poll() == 0) {
        return 0;
      }
      flush.activate();
      return requests.add(0, -1 - index);
    } finally {
      leave();
    }
  }

  private int freeFlush() {
    for (int index = 0; index < MAX_FLUSHES; index++) {
      if (!flushes[index].isActive() && !requests.isFull()) {
        return index;
      }
    }
    throw new IllegalStateException(
        "%s: more than %d flushes in flight".formatted(label(), MAX_FLUSHES));
  }

  private @Nullable FlushGroup flush(int slot) {
    int detail = requests.detail(slot);
    return detail < 0 ? flushes[-1 - detail] : null;
  }

  @Override
  Use use() {
    return Use.RECEIVE;
  }

  @Override
  long poll(int slot) {
    FlushGroup flush = flush(slot);
    if (flush == null) {
      long id = requests.id(slot);
      return requests.detail(slot) == 1 ? comm.test(id) : comm.test(id, lengths);
    }
    long result = flush.poll();
    if (result != Result.IN_PROGRESS) {
      flush.end();
    }
    return result;
  }

  @Override
  void putSizes(int slot, long result, long sizes) {
    int count = requests.detail(slot);
    if (count == 1) {
      RawMemory.putInt(sizes, (int) result);
      return;
    }
    for (int part = 0; part < count; part++) {
      RawMemory.putInt(sizes + part * (long) Integer.BYTES, (int) lengths[part]);
    }
  }

  @Override
  String explain(int slot, long result) {
    FlushGroup flush = flush(slot);
    return explainId(flush == null ? requests.id(slot) : flush.failed(), result);
  }
}

package org.jofi.nccl;

import java.util.Objects;
import org.jofi.transport.ReceiveGroup;
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
  private final Group group = new Group();

  /** Of receives that are handed over, by slot. */
  private final @Nullable Group[] groups = new @Nullable Group[RequestTable.CAPACITY];

  private final FlushGroup[] flushes = new FlushGroup[MAX_FLUSHES];

  /** A group of receives, or one, and how long their messages were in the end. */
  private static final class Group {
    final ReceiveGroup receives = new ReceiveGroup();
    final long[] lengths = new long[MAX_RECEIVES];
  }

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
      if (handsOver()) {
        return handOver(count, data, sizes, tagged, handles, regions);
      }
      read(group.receives, count, data, sizes, tagged, handles, regions);
      long id = post(group.receives);
      return id == Result.TRY_AGAIN ? 0 : requests.add(id, count);
    } finally {
      leave();
    }
  }

  private long handOver(
      int count, long data, long sizes, long tagged, long handles, HandleTable<Region> regions) {
    // Of what cannot be read, or is refused, no request remains.
    ReceiveGroup read = group.receives;
    read(read, count, data, sizes, tagged, handles, regions);
    for (int part = 0; part < count; part++) {
      checkWithin(registration(read, part), read.offset(part), read.lengthBytes(part));
    }
    long request = requests.add(HandOver.HANDED_OVER, count);
    ReceiveGroup handed = group(requests.find(request)).receives;
    handed.clear();
    for (int part = 0; part < count; part++) {
      handed.add(
          registration(read, part), read.offset(part), read.lengthBytes(part), read.tag(part));
    }
    handOver(request);
    return request;
  }

  private static Registration registration(ReceiveGroup of, int part) {
    return Objects.requireNonNull(of.registration(part));
  }

  private Group group(int slot) {
    Group known = groups[slot];
    if (known == null) {
      known = new Group();
      groups[slot] = known;
    }
    return known;
  }

  private static void read(
      ReceiveGroup into,
      int count,
      long data,
      long sizes,
      long tagged,
      long handles,
      HandleTable<Region> regions) {
    into.clear();
    for (int part = 0; part < count; part++) {
      Registration registration =
          regions.get(RawMemory.getLong(handles + part * POINTER_BYTES)).registration();
      into.add(
          registration,
          RawMemory.getLong(data + part * POINTER_BYTES) - registration.memory().address(),
          RawMemory.getLong(sizes + part * POINTER_BYTES),
          RawMemory.getInt(tagged + part * (long) Integer.BYTES));
    }
  }

  private long post(ReceiveGroup of) {
    return of.size() == 1
        ? comm.irecv(registration(of, 0), of.offset(0), of.lengthBytes(0), of.tag(0))
        : comm.irecv(of);
  }

  @Override
  public long post(int slot) {
    return post(group(slot).receives);
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
  public long test(int slot, long id) {
    FlushGroup flush = flush(slot);
    if (flush == null) {
      return requests.detail(slot) == 1 ? comm.test(id) : comm.test(id, group(slot).lengths);
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
      RawMemory.putInt(sizes + part * (long) Integer.BYTES, (int) group(slot).lengths[part]);
    }
  }

  @Override
  public String explain(int slot, long id, long result) {
    FlushGroup flush = flush(slot);
    return super.explain(slot, flush == null ? id : flush.failed(), result);
  }
}

package org.jofi.nccl;

import org.jofi.transport.RecvComm;
import org.jofi.transport.Registration;
import org.jofi.transport.Result;

/**
 * The flushes of a receive's buffers, as one request. NCCL takes a flush without a request as done,
 * so that one which cannot be posted yet is kept here and posted by a later test. One thread at a
 * time.
 */
final class FlushGroup {
  /** Of a flush that is not posted yet. */
  private static final long NOT_POSTED = -1;

  private final RecvComm comm;
  private final long[] addresses = new long[PluginRecvComm.MAX_RECEIVES];
  private final long[] lengths = new long[PluginRecvComm.MAX_RECEIVES];
  private final Registration[] registrations = new Registration[PluginRecvComm.MAX_RECEIVES];
  private final long[] ids = new long[PluginRecvComm.MAX_RECEIVES];
  private int count;
  private int over;
  private long failed;
  private long failure;
  private boolean active;

  FlushGroup(RecvComm comm) {
    this.comm = comm;
  }

  boolean isActive() {
    return active;
  }

  /** Starts to collect; what was collected before is forgotten. */
  void begin() {
    count = 0;
    over = 0;
    failed = 0;
    failure = 0;
  }

  /** Adds a buffer. */
  void add(long address, long lengthBytes, Registration registration) {
    addresses[count] = address;
    lengths[count] = lengthBytes;
    registrations[count] = registration;
    ids[count] = NOT_POSTED;
    count++;
  }

  /**
   * Posts what is not posted, and tests the rest. Once one failed nothing more is posted, and what
   * was posted is waited for, since it has the memory until then.
   *
   * @return 0 if all are done, {@link Result#IN_PROGRESS}, or how the first failed, then each time
   */
  long poll() {
    if (failure == 0) {
      post();
    }
    while (over < count && ids[over] != NOT_POSTED) {
      long id = ids[over];
      long result = id == Result.NOTHING_TO_DO ? 0 : comm.test(id);
      if (result == Result.IN_PROGRESS) {
        return result;
      }
      if (result < 0 && failure == 0) {
        failure = result;
        failed = id;
      }
      over++;
    }
    if (failure != 0) {
      return failure;
    }
    if (over == count) {
      return 0;
    }
    comm.progress();
    return Result.IN_PROGRESS;
  }

  private void post() {
    for (int part = over; part < count; part++) {
      if (ids[part] == NOT_POSTED) {
        long id = comm.iflush(addresses[part], lengths[part], registrations[part]);
        if (id == Result.TRY_AGAIN) {
          break;
        }
        ids[part] = id;
      }
    }
  }

  /** It is a request now, until {@link #end}. */
  void activate() {
    active = true;
  }

  /** The transport's request that failed. */
  long failed() {
    return failed;
  }

  /** It is over. */
  void end() {
    active = false;
  }
}

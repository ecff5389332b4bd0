package org.jofi.nccl;

import org.jofi.transport.RecvComm;
import org.jofi.transport.Registration;
import org.jofi.transport.Result;

/**
 * The flushes of a receive's buffers, as one request. NCCL treats a flush without a request as
 * done, so a flush that cannot be posted yet is kept here, and a later test posts it. One thread at
 * a time.
 */
final class FlushGroup {
  /** Marks a flush that is not posted yet. */
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

  /** Starts a new collection of buffers. */
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
   * Posts the flushes that are not posted, and tests the others. After a failure nothing more is
   * posted, but the posted ones are waited for, since they use the memory until they are over.
   *
   * @return 0 if all are done, {@link Result#IN_PROGRESS}, or, from then on, the code of the first
   *     failure
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
        long id =
            comm.iflush(
                registrations[part],
                addresses[part] - registrations[part].memory().address(),
                lengths[part]);
        if (id == Result.TRY_AGAIN) {
          break;
        }
        ids[part] = id;
      }
    }
  }

  /** Makes it a request, until {@link #end}. */
  void activate() {
    active = true;
  }

  /** The id of the transport's request that failed. */
  long failed() {
    return failed;
  }

  /** Ends the request. */
  void end() {
    active = false;
  }
}

package org.jofi.conformance.liars;

import org.jofi.fabric.CompletionError;
import org.jofi.fabric.CompletionFlags;
import org.jofi.fabric.CompletionQueue;
import org.jofi.fabric.FabricException;

/** A completion on its way to who polls; an errno of 0 is a success. */
record Event(int context, long flags, long lengthBytes, long data, int errno, long overflowBytes)
    implements CompletionError {

  static Event success(int context, long flags, long bytes) {
    return new Event(context, flags, bytes, 0, 0, 0);
  }

  boolean is(long flag) {
    return (flags & flag) != 0;
  }

  /** A peer's write with immediate data. */
  boolean isArrival() {
    return errno == 0 && is(CompletionFlags.REMOTE_CQ_DATA) && !is(CompletionFlags.RECV);
  }

  boolean isReceived() {
    return errno == 0 && is(CompletionFlags.RECV);
  }

  Event withContext(int other) {
    return new Event(other, flags, lengthBytes, data, errno, overflowBytes);
  }

  Event withFlags(long other) {
    return new Event(context, other, lengthBytes, data, errno, overflowBytes);
  }

  Event withLength(long other) {
    return new Event(context, flags, other, data, errno, overflowBytes);
  }

  Event withData(long other) {
    return new Event(context, flags, lengthBytes, other, errno, overflowBytes);
  }

  Event withErrno(int other) {
    return new Event(context, flags, lengthBytes, data, other, overflowBytes);
  }

  void to(CompletionQueue.Sink sink) {
    if (errno == 0) {
      sink.completed(context, flags, lengthBytes, data);
    } else {
      sink.failed(this);
    }
  }

  @Override
  public int providerErrno() {
    return errno;
  }

  @Override
  public String providerText() {
    return "";
  }

  @Override
  public FabricException toException() {
    return new FabricException("fi_cq_readerr", errno, "", "a lying provider");
  }
}

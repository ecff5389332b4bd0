package org.jofi.async;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jofi.transport.Registration;
import org.jofi.transport.SendComm;

/** A sending communicator of the driver's. */
final class OwnedSender extends OwnedComm implements AsyncSender {
  private final SendComm comm;

  OwnedSender(DriverThread driver, SendComm comm) {
    super(driver, comm);
    this.comm = comm;
  }

  @Override
  public AsyncRequest send(MemorySegment segment, long offset, long lengthBytes, int tag) {
    check(segment, offset, lengthBytes);
    return submit(messages, () -> comm.isend(segment, offset, lengthBytes, tag));
  }

  @Override
  public AsyncRequest send(Registration registration, long offset, long lengthBytes, int tag) {
    Objects.requireNonNull(registration);
    return submit(messages, () -> comm.isend(registration, offset, lengthBytes, tag));
  }
}

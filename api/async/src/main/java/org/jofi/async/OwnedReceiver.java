package org.jofi.async;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jofi.transport.RecvComm;
import org.jofi.transport.Registration;

/** A receiving communicator of the driver's. */
final class OwnedReceiver extends OwnedComm implements AsyncReceiver {
  private final RecvComm comm;

  OwnedReceiver(DriverThread driver, RecvComm comm) {
    super(driver, comm);
    this.comm = comm;
  }

  @Override
  public AsyncRequest receive(MemorySegment segment, long offset, long lengthBytes, int tag) {
    checkWritable(segment, offset, lengthBytes);
    return submit(messages, () -> comm.irecv(segment, offset, lengthBytes, tag));
  }

  @Override
  public AsyncRequest receive(Registration registration, long offset, long lengthBytes, int tag) {
    Objects.requireNonNull(registration);
    return submit(messages, () -> comm.irecv(registration, offset, lengthBytes, tag));
  }

  @Override
  public AsyncRequest flush(Registration registration, long offset, long lengthBytes) {
    Objects.requireNonNull(registration);
    return submit(others, () -> comm.iflush(registration, offset, lengthBytes));
  }
}

package org.jofi.async;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.CompletableFuture;
import org.jofi.transport.Comm;
import org.jofi.transport.Device;
import org.jofi.transport.DeviceLimits;
import org.jofi.transport.FailureCause;
import org.jofi.transport.Memory;
import org.jofi.transport.Registration;
import org.jofi.transport.RemoteMemory;
import org.jofi.transport.TransportException;
import org.jofi.transport.Use;

/**
 * A communicator that a driver owns. Any thread. What holds of order, back-pressure, failures and
 * memory is said of {@linkplain org.jofi.async the package}.
 *
 * <p>After a close, requests fail with {@link FailureCause#CLOSED}. Only the driver implements it,
 * so that it may get further methods.
 */
public interface AsyncComm {

  /** {@return the device that it is on} */
  Device device();

  /** {@return its name in error messages, as {@link Comm#label}} */
  String label();

  /**
   * Registers memory, on the calling thread, as {@link Comm#register(Memory, Use, Use...)}.
   *
   * @param memory must stay valid until the registration is closed; this does not take it over
   * @param first what for
   * @param more what else for
   * @return the registration, which the caller closes, or else the close of the communicator
   * @throws TransportException if a NIC cannot register it; nothing stays registered then
   * @throws IllegalStateException if it is closed
   */
  Registration register(Memory memory, Use first, Use... more);

  /**
   * Writes into the peer's memory, as {@link Comm#iwrite(MemorySegment, long, long, RemoteMemory,
   * long)}.
   *
   * @param from host memory to write from, not of a confined arena
   * @param offset of the first byte, in the segment
   * @param lengthBytes how many, 0 to {@link DeviceLimits#maxMessageBytes()}
   * @param to the peer's memory, which it registered for {@link Use#PEER_WRITES}
   * @param remoteOffset where in the peer's memory, in bytes; the whole range must be within it
   * @return the request
   * @throws IllegalArgumentException if a range is not within its memory or longer than a message
   *     may be, or the segment is on the heap or confined to a thread
   */
  AsyncRequest write(
      MemorySegment from, long offset, long lengthBytes, RemoteMemory to, long remoteOffset);

  /**
   * As {@link #write(MemorySegment, long, long, RemoteMemory, long)}, from memory that is
   * registered for {@link Use#SEND}.
   *
   * @param from memory to write from, registered with this communicator and not staged
   * @param offset of the first byte, in the registered memory
   * @param lengthBytes how many, 0 to {@link DeviceLimits#maxMessageBytes()}
   * @param to the peer's memory, which it registered for {@link Use#PEER_WRITES}
   * @param remoteOffset where in the peer's memory, in bytes; the whole range must be within it
   * @return the request
   */
  AsyncRequest write(
      Registration from, long offset, long lengthBytes, RemoteMemory to, long remoteOffset);

  /**
   * Reads from the peer's memory, as {@link Comm#iread(MemorySegment, long, long, RemoteMemory,
   * long)}.
   *
   * @param into host memory to read into, not of a confined arena and not read-only
   * @param offset of the first byte, in the segment
   * @param lengthBytes how many, 0 to {@link DeviceLimits#maxMessageBytes()}
   * @param from the peer's memory, which it registered for {@link Use#PEER_READS}
   * @param remoteOffset where in the peer's memory, in bytes; the whole range must be within it
   * @return the request
   * @throws IllegalArgumentException as {@link #write(MemorySegment, long, long, RemoteMemory,
   *     long)}, and if the segment is read-only
   */
  AsyncRequest read(
      MemorySegment into, long offset, long lengthBytes, RemoteMemory from, long remoteOffset);

  /**
   * As {@link #read(MemorySegment, long, long, RemoteMemory, long)}, into memory that is registered
   * for {@link Use#RECEIVE}.
   *
   * @param into memory to read into, registered with this communicator and not staged
   * @param offset of the first byte, in the registered memory
   * @param lengthBytes how many, 0 to {@link DeviceLimits#maxMessageBytes()}
   * @param from the peer's memory, which it registered for {@link Use#PEER_READS}
   * @param remoteOffset where in the peer's memory, in bytes; the whole range must be within it
   * @return the request
   */
  AsyncRequest read(
      Registration into, long offset, long lengthBytes, RemoteMemory from, long remoteOffset);

  /**
   * Closes it, as {@link Comm#close}, once what was submitted before is posted as far as there is
   * room; the rest fails with {@link FailureCause#CLOSED}. It does not wait, and holds up no other
   * communicator. A second call, and one after {@link #abortAsync}, changes nothing.
   *
   * @return is done when it is closed, which takes as long as {@link Comm#close} may; each call
   *     returns a future of its own. Its exception, if it has one, says what could not be closed
   */
  CompletableFuture<Void> closeAsync();

  /**
   * Closes it without waiting for the peer, as {@link Comm#abort}: requests in flight fail with
   * {@link FailureCause#ABORTED}. Otherwise as {@link #closeAsync}.
   *
   * @return is done when it is closed
   */
  CompletableFuture<Void> abortAsync();
}

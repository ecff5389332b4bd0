package org.jofi.nccl;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jofi.transport.ConnectAttempt;
import org.jofi.transport.ConnectHandle;
import org.jofi.transport.SendComm;
import org.jspecify.annotations.Nullable;

/**
 * Connections that are being made. NCCL calls connect repeatedly, each time with the same buffer
 * for the handle, so the buffer's address identifies the attempt. The handle may need all 128 bytes
 * of the buffer, so no state can be stored there. Any thread.
 */
final class PendingConnections {
  private record Pending(ConnectHandle handle, ConnectAttempt attempt) {}

  private final Map<Long, Pending> attempts = new HashMap<>();

  /**
   * Begins an attempt or continues it.
   *
   * @param buffer address of the buffer with the handle
   * @param handle the handle in the buffer
   * @param begin starts an attempt
   * @return null if the connection is not made yet; otherwise the attempt is removed here
   * @throws org.jofi.transport.TransportException if it failed; the attempt is removed here
   */
  synchronized @Nullable SendComm poll(
      long buffer, ConnectHandle handle, Supplier<ConnectAttempt> begin) {
    Pending pending = attempts.get(buffer);
    if (pending != null && !pending.handle.equals(handle)) {
      // The earlier attempt was given up, and its buffer has another handle now.
      pending.attempt.close();
      pending = null;
    }
    if (pending == null) {
      pending = new Pending(handle, begin.get());
      attempts.put(buffer, pending);
    }
    SendComm comm;
    try {
      comm = pending.attempt.poll();
    } catch (RuntimeException failed) {
      attempts.remove(buffer);
      pending.attempt.close();
      throw failed;
    }
    if (comm != null) {
      attempts.remove(buffer);
    }
    return comm;
  }

  /** Gives all attempts up. */
  synchronized void close() {
    List<Pending> open = List.copyOf(attempts.values());
    attempts.clear();
    open.forEach(pending -> pending.attempt.close());
  }
}

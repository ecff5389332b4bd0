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
 * Connections being made. NCCL calls connect again and again, with the same buffer for the handle;
 * that buffer's address tells which attempt is meant. All 128 bytes of it may be the handle's, so
 * that no state fits in there. Any thread.
 */
final class PendingConnections {
  private record Pending(ConnectHandle handle, ConnectAttempt attempt) {}

  private final Map<Long, Pending> attempts = new HashMap<>();

  /**
   * Begins, or goes on.
   *
   * @param buffer where the handle lies
   * @param handle what lies there
   * @param begin starts an attempt
   * @return null if it does not stand yet; otherwise it is forgotten here
   * @throws org.jofi.transport.TransportException if it failed; it is forgotten here
   */
  synchronized @Nullable SendComm poll(
      long buffer, ConnectHandle handle, Supplier<ConnectAttempt> begin) {
    Pending pending = attempts.get(buffer);
    if (pending != null && !pending.handle.equals(handle)) {
      // That attempt was given up, and its buffer holds another handle now.
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

  /** Gives all of them up. */
  synchronized void close() {
    List<Pending> open = List.copyOf(attempts.values());
    attempts.clear();
    open.forEach(pending -> pending.attempt.close());
  }
}

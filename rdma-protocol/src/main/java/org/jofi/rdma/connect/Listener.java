package org.jofi.rdma.connect;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jofi.rdma.wire.Nonce;
import org.jofi.transport.ConnectHandle;
import org.jspecify.annotations.Nullable;

/** A listener of an endpoint: its new connections, and how many requests were refused. */
public final class Listener {
  public final long number;

  /** What connectors must present. */
  public final Nonce nonce;

  /** Opens those that connectors with other rails are sent to; null if such are refused. */
  final @Nullable PartialListeners partial;

  /** Those that were opened, by their rails. */
  final Map<List<Integer>, ConnectHandle> opened = new HashMap<>();

  final ArrayDeque<ReceiveConnection> arrived = new ArrayDeque<>();
  long refused;

  Listener(long number, Nonce nonce, @Nullable PartialListeners partial) {
    this.number = number;
    this.nonce = nonce;
    this.partial = partial;
  }

  /** The next connection, which the caller closes; null if there is none. */
  public @Nullable ReceiveConnection accept() {
    return arrived.pollFirst();
  }

  public long refused() {
    return refused;
  }
}

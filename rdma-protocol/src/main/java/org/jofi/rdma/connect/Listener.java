package org.jofi.rdma.connect;

import java.util.ArrayDeque;
import org.jofi.rdma.wire.Nonce;
import org.jspecify.annotations.Nullable;

/** A listener of an endpoint: its new connections, and how many requests were refused. */
public final class Listener {
  public final long number;

  /** What connectors must present. */
  public final Nonce nonce;

  final ArrayDeque<ReceiveConnection> arrived = new ArrayDeque<>();
  long refused;

  Listener(long number, Nonce nonce) {
    this.number = number;
    this.nonce = nonce;
  }

  /** The next connection, which the caller closes; null if there is none. */
  public @Nullable ReceiveConnection accept() {
    return arrived.pollFirst();
  }

  public long refused() {
    return refused;
  }
}

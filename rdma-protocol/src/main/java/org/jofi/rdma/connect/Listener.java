package org.jofi.rdma.connect;

import java.util.ArrayDeque;
import org.jofi.rdma.wire.Nonce;
import org.jspecify.annotations.Nullable;

/** A listener of an endpoint: connectors that came, and how many were turned away. */
public final class Listener {
  private final long number;
  private final Nonce nonce;
  private final ArrayDeque<ReceiveSide> arrived = new ArrayDeque<>();
  private long refused;

  Listener(long number, Nonce nonce) {
    this.number = number;
    this.nonce = nonce;
  }

  /** Its number within the endpoint. */
  public long number() {
    return number;
  }

  /** What connectors must present. */
  public Nonce nonce() {
    return nonce;
  }

  /** The next connection that stands, which is the caller's to close; null if there is none. */
  public @Nullable ReceiveSide accept() {
    return arrived.pollFirst();
  }

  /** Connectors that were turned away. */
  public long refused() {
    return refused;
  }

  void add(ReceiveSide side) {
    arrived.addLast(side);
  }

  void refuse() {
    refused++;
  }
}

package org.jofi.transport;

/**
 * What memory is registered for. NICs that check rights then refuse everything else: a peer cannot
 * write to a buffer that is sent, nor read one that is received into.
 */
public enum Use {
  /** As the source of {@link SendComm#isend} and {@link Comm#iwrite}. No peer reaches it. */
  SEND,
  /** As the target of {@link RecvComm#irecv} and {@link Comm#iread}. The peer writes to it. */
  RECEIVE,
  /** As the source of the peer's {@link Comm#iread}. */
  PEER_READS,
  /** As the target of the peer's {@link Comm#iwrite}. */
  PEER_WRITES;

  /** {@return whether the peer is told where it is, and reaches it when it likes} */
  public boolean isExposed() {
    return this == PEER_READS || this == PEER_WRITES;
  }
}

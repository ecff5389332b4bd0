package org.jofi.fabric;

/** What an endpoint can do: the capability bits of fi_getinfo(3), without {@code FI_}. */
public enum Capability {
  /** Sends and receives. */
  MSG,
  /** One-sided reads and writes. */
  RMA,
  /** Sends and receives matched by tag. */
  TAGGED,
  /** One-sided atomics. */
  ATOMIC,
  /** Multicast. */
  MULTICAST,
  /** Collectives offloaded to the fabric. */
  COLLECTIVE,
  /** May initiate RMA reads. */
  READ,
  /** May initiate RMA writes. */
  WRITE,
  /** May receive messages. */
  RECV,
  /** May send messages. */
  SEND,
  /** May be the target of RMA reads. */
  REMOTE_READ,
  /** May be the target of RMA writes. */
  REMOTE_WRITE,
  /** One posted buffer takes several messages. */
  MULTI_RECV,
  /** Shares an address vector between processes. */
  SHARED_AV,
  /** Triggered operations. */
  TRIGGER,
  /** An operation can be made to start only after all earlier ones to the peer. */
  FENCE,
  /** Communicates with endpoints on the same host. */
  LOCAL_COMM,
  /** Communicates with endpoints on other hosts. */
  REMOTE_COMM,
  /** Reports the sender of a received message. */
  SOURCE,
  /** Reports the sender even if it is not in the address vector. */
  SOURCE_ERR,
  /** Receives from one peer only. */
  DIRECTED_RECV,
  /** Receive contexts that peers address by name. */
  NAMED_RX_CTX,
  /** Events at the target of RMA. */
  RMA_EVENT,
  /** RMA to persistent memory. */
  RMA_PMEM,
  /** Device memory as source and target. */
  HMEM,
  /** The caller's own ids in an address vector. */
  AV_USER_ID,
  /** Supports the peer provider interface, fi_peer(3). */
  PEER
}

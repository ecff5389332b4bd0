package org.jofi.simulated.engine;

import java.util.ArrayDeque;
import org.jofi.simulated.network.AddressTable;
import org.jofi.simulated.network.Lifecycle;
import org.jofi.simulated.network.Nic;
import org.jofi.simulated.registration.ProtectionDomain;
import org.jofi.simulated.registration.RegisteredMemory;

/**
 * An endpoint as its NIC has it: its address, its posted receives, and the queues that it reports
 * to. Under the network's lock.
 */
public final class QueuePair {
  private final ProtectionDomain domain;
  private final Lifecycle life;
  private final long address;
  private final AddressTable peers;
  private final CompletionStore transmitQueue;
  private final CompletionStore receiveQueue;
  private final PostedReceives receives = new PostedReceives();
  private final ArrayDeque<Transfer> inbox = new ArrayDeque<>();
  private int inFlight;

  /**
   * @param domain the domain that it belongs to
   * @param life whether the endpoint is open
   * @param address the key of its address; see {@link
   *     org.jofi.simulated.network.EndpointAddress#key}
   * @param peers the peers that it can send to
   * @param transmitQueue gets the completions of what it posts, other than receives
   * @param receiveQueue gets the completions of receives, and arrivals
   */
  public QueuePair(
      ProtectionDomain domain,
      Lifecycle life,
      long address,
      AddressTable peers,
      CompletionStore transmitQueue,
      CompletionStore receiveQueue) {
    this.domain = domain;
    this.life = life;
    this.address = address;
    this.peers = peers;
    this.transmitQueue = transmitQueue;
    this.receiveQueue = receiveQueue;
  }

  ProtectionDomain domain() {
    return domain;
  }

  Nic nic() {
    return domain.nic();
  }

  /** Whether the endpoint is open. */
  public Lifecycle life() {
    return life;
  }

  /** The key of its address. */
  long address() {
    return address;
  }

  AddressTable peers() {
    return peers;
  }

  /** Gets the completions of what it posts, other than receives. */
  public CompletionStore transmitQueue() {
    return transmitQueue;
  }

  /** Gets the completions of receives, and arrivals. */
  public CompletionStore receiveQueue() {
    return receiveQueue;
  }

  PostedReceives receives() {
    return receives;
  }

  /** The transfers that wait until this endpoint's program polls. */
  ArrayDeque<Transfer> inbox() {
    return inbox;
  }

  /** How many sends, writes and reads are in flight. */
  public int inFlight() {
    return inFlight;
  }

  /** How many receives are posted. */
  public int receivesPosted() {
    return receives.posted().size();
  }

  /** Called when an operation was posted. */
  void started() {
    inFlight++;
  }

  /** Called when an operation is over: completed or dropped. */
  void finished(Transfer transfer) {
    inFlight--;
    transfer.way().inFlight--;
    transmitQueue.unreserve();
    RegisteredMemory region = transfer.localRegion;
    if (region != null) {
      region.unuse(false);
    }
  }

  /** What it has in flight, as text for a dump. */
  void describe(StringBuilder text) {
    text.append("  ")
        .append(life)
        .append(": ")
        .append(inFlight)
        .append(" operations, ")
        .append(receives.posted().size())
        .append(" receives posted, ")
        .append(receives.unexpected().size())
        .append(" unexpected messages, ")
        .append(inbox.size())
        .append(" wait for a poll\n");
    transmitQueue.describe(text);
    if (receiveQueue != transmitQueue) {
      receiveQueue.describe(text);
    }
  }
}

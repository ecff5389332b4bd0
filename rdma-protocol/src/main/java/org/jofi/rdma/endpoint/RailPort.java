package org.jofi.rdma.endpoint;

import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.agrona.collections.LongHashSet;
import org.jofi.fabric.AddressVector;
import org.jofi.fabric.CompletionError;
import org.jofi.fabric.CompletionFlags;
import org.jofi.fabric.CompletionQueue;
import org.jofi.fabric.Domain;
import org.jofi.fabric.Endpoint;
import org.jofi.fabric.EndpointRequest;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.jofi.mr.OwnershipGraph;
import org.jofi.mr.Rail;
import org.jofi.rdma.wire.FabricAddress;
import org.jofi.transport.Failure;
import org.jspecify.annotations.Nullable;

/**
 * One rail of one role: endpoint, address vector and completion queue, and who posted what. Posting
 * calls are those of {@link Endpoint}, with an owner and a cookie in the place of a context slot.
 */
public final class RailPort implements CompletionQueue.Sink {
  /** Most peers that it ever knows, so that strangers cannot fill its memory. */
  static final int MOST_PEERS = 1 << 16;

  /** Most who are only answered that it knows at once: those do not count among its peers. */
  static final int MOST_STRANGERS = 64;

  private static final int AGAIN = -FabricErrno.EAGAIN;
  private static final int BATCH = 64;
  private static final int EXPECTED_PEERS = 64;

  private final int number;
  private final Rail rail;
  private final AddressVector addresses;
  private final CompletionQueue queue;
  private final Endpoint endpoint;
  private final ContextTable contexts;
  private final ArrivalSink arrivals;
  private final Map<FabricAddress, Long> peers = new HashMap<>();
  private final LongHashSet peerNumbers = new LongHashSet();
  // The one that is known for longest comes first.
  private final Map<FabricAddress, Stranger> strangers = new LinkedHashMap<>();
  private long orphans;
  private boolean draining;
  private @Nullable Failure broken;

  /** One who is answered, and forgotten when there is need, once nothing is in flight to it. */
  private static final class Stranger {
    final long peer;
    int uses;

    Stranger(long peer) {
      this.peer = peer;
    }
  }

  private RailPort(
      int number,
      Rail rail,
      AddressVector addresses,
      CompletionQueue queue,
      int slots,
      ArrivalSink arrivals) {
    this.number = number;
    this.rail = rail;
    this.addresses = addresses;
    this.queue = queue;
    this.endpoint = rail.endpoint();
    this.contexts = new ContextTable(slots);
    this.arrivals = arrivals;
  }

  /**
   * Opens one. If something refuses, nothing stays open.
   *
   * @param slots operations in flight at most
   */
  static RailPort open(int number, String label, Domain domain, int slots, ArrivalSink arrivals) {
    AddressVector addresses = domain.openAddressVector(EXPECTED_PEERS);
    try {
      // Arrivals of immediate data need room beside the completions of this side's operations.
      CompletionQueue queue = domain.openCompletionQueue(4 * slots, slots);
      try {
        Endpoint endpoint = domain.openEndpoint(EndpointRequest.of(label, addresses, queue));
        return new RailPort(number, new Rail(domain, endpoint), addresses, queue, slots, arrivals);
      } catch (RuntimeException e) {
        queue.close();
        throw e;
      }
    } catch (RuntimeException e) {
      addresses.close();
      throw e;
    }
  }

  /** Which rail of its role. */
  public int number() {
    return number;
  }

  /** NIC and endpoint. */
  public Rail rail() {
    return rail;
  }

  /** What errors call it. */
  public String label() {
    return endpoint.label();
  }

  /** Where peers reach it. */
  public FabricAddress address() {
    return FabricAddress.of(endpoint.address());
  }

  /**
   * The number of a peer, for posting. An address is inserted once and stays known until the port
   * closes: an address vector may forget a peer only when nothing is in flight to it.
   *
   * @throws IllegalArgumentException if the address has a length that this provider never uses, or
   *     too many peers are known
   * @throws FabricException if the provider refuses it
   */
  public long peer(FabricAddress address) {
    Long known = peers.get(address);
    if (known != null) {
      return known;
    }
    if (peers.size() == MOST_PEERS) {
      throw new IllegalArgumentException(
          "%s knows %d peers, and takes no more".formatted(label(), MOST_PEERS));
    }
    Stranger stranger = strangers.remove(address);
    long peer = stranger == null ? addresses.insert(address.bytes()) : stranger.peer;
    peers.put(address, peer);
    peerNumbers.add(peer);
    return peer;
  }

  /**
   * The number of somebody who may be nobody's peer, for one answer, until {@link #answered}. Few
   * of them are known at once, so that whoever asks in vain, under however many addresses, takes no
   * room of peers.
   *
   * @throws IllegalArgumentException if the address has a length that this provider never uses, or
   *     too many are being answered
   * @throws FabricException if the provider refuses it
   */
  long stranger(FabricAddress address) {
    Long known = peers.get(address);
    if (known != null) {
      return known;
    }
    Stranger stranger = strangers.get(address);
    if (stranger == null) {
      if (strangers.size() == MOST_STRANGERS) {
        forgetStranger();
      }
      stranger = new Stranger(addresses.insert(address.bytes()));
      strangers.put(address, stranger);
    }
    stranger.uses++;
    return stranger.peer;
  }

  /** The answer is on its way no more. */
  void answered(FabricAddress address) {
    Stranger stranger = strangers.get(address);
    if (stranger != null) {
      stranger.uses--;
    }
  }

  private void forgetStranger() {
    for (Iterator<Stranger> all = strangers.values().iterator(); all.hasNext(); ) {
      Stranger stranger = all.next();
      if (stranger.uses == 0) {
        all.remove();
        if (!isShared(stranger.peer)) {
          addresses.remove(stranger.peer);
        }
        return;
      }
    }
    throw new IllegalArgumentException(
        "%s answers %d strangers, and no more at once".formatted(label(), MOST_STRANGERS));
  }

  /** Whether others have that number: providers may give it to addresses that differ in nothing. */
  private boolean isShared(long number) {
    for (Stranger other : strangers.values()) {
      if (other.peer == number) {
        return true;
      }
    }
    return peerNumbers.contains(number);
  }

  /** How many it knows, peers and strangers. */
  int known() {
    return peers.size() + strangers.size();
  }

  /** As {@link Endpoint#send}. */
  public int send(
      OperationOwner owner, long cookie, long address, long bytes, long descriptor, long peer) {
    int context = contexts.take(owner, cookie);
    return context < 0
        ? AGAIN
        : posted(context, endpoint.send(address, bytes, descriptor, peer, context));
  }

  /** As {@link Endpoint#sendData}. */
  public int sendData(
      OperationOwner owner,
      long cookie,
      long address,
      long bytes,
      long descriptor,
      int data,
      long peer) {
    int context = contexts.take(owner, cookie);
    return context < 0
        ? AGAIN
        : posted(
            context,
            endpoint.sendData(
                address, bytes, descriptor, Integer.toUnsignedLong(data), peer, context));
  }

  /** As {@link Endpoint#recv}, from any peer. */
  int receive(OperationOwner owner, long cookie, long address, long bytes, long descriptor) {
    int context = contexts.take(owner, cookie);
    return context < 0
        ? AGAIN
        : posted(context, endpoint.recv(address, bytes, descriptor, AddressVector.ANY, context));
  }

  /** As {@link Endpoint#write}. */
  public int write(
      OperationOwner owner,
      long cookie,
      long address,
      long bytes,
      long descriptor,
      long peer,
      long remoteAddress,
      long key,
      long flags) {
    int context = contexts.take(owner, cookie);
    return context < 0
        ? AGAIN
        : posted(
            context,
            endpoint.write(address, bytes, descriptor, peer, remoteAddress, key, context, flags));
  }

  /** As {@link Endpoint#writeData}, with 32 bits. */
  public int writeData(
      OperationOwner owner,
      long cookie,
      long address,
      long bytes,
      long descriptor,
      int data,
      long peer,
      long remoteAddress,
      long key) {
    int context = contexts.take(owner, cookie);
    return context < 0
        ? AGAIN
        : posted(
            context,
            endpoint.writeData(
                address,
                bytes,
                descriptor,
                Integer.toUnsignedLong(data),
                peer,
                remoteAddress,
                key,
                context,
                0));
  }

  /** As {@link Endpoint#read}. */
  public int read(
      OperationOwner owner,
      long cookie,
      long address,
      long bytes,
      long descriptor,
      long peer,
      long remoteAddress,
      long key) {
    int context = contexts.take(owner, cookie);
    return context < 0
        ? AGAIN
        : posted(
            context, endpoint.read(address, bytes, descriptor, peer, remoteAddress, key, context));
  }

  private int posted(int context, int answer) {
    if (answer != 0) {
      contexts.give(context);
    }
    return answer;
  }

  /** Delivers what finished; never throws. How much, or -1 once if the queue broke. */
  int poll() {
    if (broken != null) {
      return 0;
    }
    int polled = queue.poll(this, BATCH);
    if (polled < 0) {
      breakDown(Failures.ofQueue(this, -polled));
      return -1;
    }
    return polled;
  }

  /** Whether a poll that delivered so many may have left some. */
  static boolean leavesSome(int polled) {
    return polled >= BATCH;
  }

  /** Nobody learns any more how what is in flight goes: its owners are told that. */
  private void breakDown(Failure why) {
    broken = why;
    for (int context = 0; context < contexts.size(); context++) {
      OperationOwner owner = contexts.owner(context);
      if (owner != null) {
        owner.lost(contexts.cookie(context), this, why);
      }
    }
  }

  @Override
  public void completed(int context, long flags, long lengthBytes, long data) {
    if ((flags & CompletionFlags.REMOTE_CQ_DATA) != 0) {
      arrivals.immediate(data);
    }
    if (context >= 0) {
      long cookie = contexts.cookie(context);
      OperationOwner owner = contexts.give(context);
      if (owner == null) {
        orphans++;
      } else {
        // A receive that immediate data used up holds no message.
        owner.completed(cookie, (flags & CompletionFlags.REMOTE_CQ_DATA) != 0 ? 0 : lengthBytes);
      }
    }
  }

  @Override
  public void failed(CompletionError error) {
    int context = error.context();
    long cookie = context < 0 || context >= contexts.size() ? 0 : contexts.cookie(context);
    OperationOwner owner = contexts.give(context);
    if (owner == null) {
      orphans++;
    } else {
      owner.failed(cookie, this, error);
    }
  }

  /** Asks the provider to drop what that owner posted; of all owners if it is null. */
  void cancel(@Nullable OperationOwner only) {
    for (int context = 0; context < contexts.size(); context++) {
      OperationOwner owner = contexts.owner(context);
      if (owner != null && (only == null || owner.equals(only))) {
        // Sends and writes cannot be taken back; that is no failure of the cancelling.
        int answer = endpoint.cancel(context);
        assert answer <= 0 : answer;
      }
    }
  }

  /** Operations in flight. */
  public int inFlight() {
    return contexts.taken();
  }

  /** Completions, and errors, that belong to no operation of this side. */
  public long orphans() {
    return orphans;
  }

  /** Why its completion queue broke; null if it works. */
  public @Nullable Failure brokenBy() {
    return broken;
  }

  /** What fails from now on is not posted again: the endpoint closes. */
  void drain() {
    draining = true;
  }

  boolean isDraining() {
    return draining;
  }

  /** Hands endpoint, queue and address vector to the graph that closes them. */
  void addTo(OwnershipGraph graph) {
    graph
        .own(endpoint, label())
        .own(queue, "queue of " + label())
        .own(addresses, "address vector of " + label())
        .closesBefore(endpoint, queue)
        .closesBefore(endpoint, addresses);
  }
}

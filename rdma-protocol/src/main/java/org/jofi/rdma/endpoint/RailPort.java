package org.jofi.rdma.endpoint;

import org.jofi.fabric.AddressVector;
import org.jofi.fabric.CompletionError;
import org.jofi.fabric.CompletionFlags;
import org.jofi.fabric.CompletionQueue;
import org.jofi.fabric.Domain;
import org.jofi.fabric.Endpoint;
import org.jofi.fabric.EndpointRequest;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.PostFlags;
import org.jofi.mr.OwnershipGraph;
import org.jofi.mr.Rail;
import org.jofi.rdma.wire.FabricAddress;
import org.jofi.transport.Failure;
import org.jspecify.annotations.Nullable;

/**
 * One rail of one role: its endpoint, address vector and completion queue, and the owners of posted
 * operations. The posting calls are those of {@link Endpoint}, with an owner and a cookie instead
 * of a context slot.
 */
public final class RailPort implements CompletionQueue.Sink {
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
  private final RailPeers peers;
  private long orphans;
  private boolean draining;
  private @Nullable Failure broken;

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
    peers = new RailPeers(addresses, endpoint.label());
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
   * Refuses a NIC over which a message of that length cannot be sent.
   *
   * @throws FabricException with {@code EMSGSIZE}, naming both lengths
   */
  void requireSends(int bytes) {
    long most = endpoint.limits().sendBytes();
    if (most < bytes) {
      throw new FabricException(
          "fi_getopt(FI_OPT_MAX_MSG_SIZE)",
          FabricErrno.EMSGSIZE,
          "",
          "%s: its sends end at %d bytes, and control messages have up to %d"
              .formatted(rail, most, bytes));
    }
  }

  /** The addresses that it posts to. */
  RailPeers peers() {
    return peers;
  }

  /**
   * The number of a peer, for posting: {@link RailPeers#peer}.
   *
   * @throws IllegalArgumentException if the address has a length that this provider never uses, or
   *     too many peers are known
   * @throws org.jofi.fabric.FabricException if the provider refuses it
   */
  public long peer(FabricAddress address) {
    return peers.peer(address);
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
                PostFlags.NONE));
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

  /** Tells the owners of operations in flight that their outcome will never be known. */
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
    boolean immediate = CompletionFlags.bringsData(flags);
    if (immediate) {
      arrivals.immediate(data);
    }
    // The arrival of a peer's write ends nothing here, whatever context it comes with: efa names an
    // operation that has ended long ago.
    if (context >= 0 && (!immediate || (flags & CompletionFlags.RECV) != 0)) {
      long cookie = contexts.cookie(context);
      OperationOwner owner = contexts.give(context);
      if (owner == null) {
        orphans++;
      } else {
        // A receive that immediate data used up holds no message.
        owner.completed(cookie, immediate ? 0 : lengthBytes);
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

  /** The endpoint is closing: operations that fail from now on are not posted again. */
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

package org.jofi.rdma.driver;

import org.agrona.collections.LongHashSet;
import org.jofi.fabric.AddressVector;
import org.jofi.fabric.Domain;
import org.jofi.fabric.Endpoint;
import org.jofi.fabric.EndpointRequest;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.jofi.mr.scope.Rail;
import org.jofi.mr.teardown.OwnershipGraph;
import org.jofi.rdma.wire.FabricAddress;
import org.jofi.transport.Failure;
import org.jspecify.annotations.Nullable;

/**
 * One rail of one role: its endpoint and address vector, and the owners of posted operations. The
 * posting calls are those of {@link Endpoint}, with an owner and a cookie instead of a context
 * slot. After {@code -EAGAIN} nothing is offered to the provider until the next poll: a refused
 * call costs as much as one that is taken.
 */
public final class RailPort {
  private static final int AGAIN = -FabricErrno.EAGAIN;
  private static final int EXPECTED_PEERS = 64;

  private final int number;
  private final Rail rail;
  private final AddressVector addresses;
  private final RailQueue queue;
  private final Endpoint endpoint;
  private final ContextTable operations;
  private final ContextTable receives;
  private final RailPeers peers;
  private boolean draining;
  private final LongHashSet refused = new LongHashSet();
  private @Nullable Failure broken;

  private RailPort(
      int number, Domain domain, Endpoint endpoint, AddressVector addresses, RailQueue queue) {
    this.number = number;
    this.rail = new Rail(domain, endpoint);
    this.addresses = addresses;
    this.queue = queue;
    this.endpoint = endpoint;
    operations = queue.operations();
    receives = queue.receives();
    peers = new RailPeers(addresses, endpoint.label());
  }

  /**
   * Opens one, whose completions go to that queue. If something refuses, nothing stays open, except
   * the queue.
   */
  static RailPort open(int number, String label, Domain domain, RailQueue queue) {
    AddressVector addresses = domain.openAddressVector(EXPECTED_PEERS);
    try {
      Endpoint endpoint = domain.openEndpoint(EndpointRequest.of(label, addresses, queue.queue()));
      RailPort port = new RailPort(number, domain, endpoint, addresses, queue);
      queue.add(port);
      return port;
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
    int context = take(owner, cookie, peer);
    return context < 0
        ? AGAIN
        : posted(peer, context, endpoint.send(address, bytes, descriptor, peer, context));
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
    int context = take(owner, cookie, peer);
    return context < 0
        ? AGAIN
        : posted(
            peer,
            context,
            endpoint.sendData(
                address, bytes, descriptor, Integer.toUnsignedLong(data), peer, context));
  }

  /** As {@link Endpoint#recv}, from any peer. */
  int receive(OperationOwner owner, long cookie, long address, long bytes, long descriptor) {
    int context = receives.take(owner, cookie);
    return context < 0
        ? AGAIN
        : posted(
            receives,
            context,
            endpoint.recv(address, bytes, descriptor, AddressVector.ANY, context));
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
    int context = take(owner, cookie, peer);
    return context < 0
        ? AGAIN
        : posted(
            peer,
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
      long key,
      long flags) {
    int context = take(owner, cookie, peer);
    return context < 0
        ? AGAIN
        : posted(
            peer,
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
                flags));
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
    int context = take(owner, cookie, peer);
    return context < 0
        ? AGAIN
        : posted(
            peer,
            context,
            endpoint.read(address, bytes, descriptor, peer, remoteAddress, key, context));
  }

  private int take(OperationOwner owner, long cookie, long peer) {
    return !refused.isEmpty() && refused.contains(peer)
        ? ContextTable.NONE
        : operations.take(owner, cookie);
  }

  private int posted(long peer, int context, int answer) {
    if (answer == AGAIN) {
      refused.add(peer);
    }
    return posted(operations, context, answer);
  }

  /** A poll begins: what was refused may be taken now. */
  void tryAgain() {
    if (!refused.isEmpty()) {
      refused.clear();
    }
  }

  private static int posted(ContextTable contexts, int context, int answer) {
    if (answer != 0) {
      contexts.give(context);
    }
    return answer;
  }

  /** Its queue broke: tells the owners of what is in flight that it will never be known. */
  void lose(Failure why) {
    broken = why;
    lose(operations, why);
    lose(receives, why);
  }

  private void lose(ContextTable table, Failure why) {
    for (int context = table.first(); context < table.end(); context++) {
      OperationOwner owner = table.owner(context);
      if (owner != null) {
        owner.lost(table.cookie(context), this, why);
      }
    }
  }

  /** Asks the provider to drop what waits for messages. */
  void cancelReceives() {
    cancel(receives);
  }

  /** Asks the provider to drop all that is in flight. */
  void cancelAll() {
    cancel(operations);
    cancel(receives);
  }

  private void cancel(ContextTable table) {
    for (int context = table.first(); context < table.end(); context++) {
      if (table.owner(context) != null) {
        // Sends and writes cannot be taken back; that is no failure of the cancelling.
        int answer = endpoint.cancel(context);
        assert answer <= 0 : answer;
      }
    }
  }

  /** Operations and receives in flight. */
  public int inFlight() {
    return operations.taken() + receives.taken();
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

  /** Hands endpoint and address vector to the graph that closes them, before the queue. */
  void addTo(OwnershipGraph graph) {
    graph
        .own(endpoint, label())
        .own(addresses, "address vector of " + label())
        .closesBefore(endpoint, queue.queue())
        .closesBefore(endpoint, addresses);
  }
}

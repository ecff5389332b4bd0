package org.jofi.rdma.nic;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.agrona.concurrent.NanoClock;
import org.jofi.counters.written.CounterBlock;
import org.jofi.counters.written.CounterType;
import org.jofi.fabric.AddressVector;
import org.jofi.fabric.Domain;
import org.jofi.fabric.Endpoint;
import org.jofi.fabric.EndpointRequest;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.LinkTraffic;
import org.jofi.mr.scope.Rail;
import org.jofi.mr.teardown.OwnershipGraph;
import org.jofi.rdma.wire.FabricAddress;
import org.jofi.transport.Failure;
import org.jofi.transport.diagnostics.Events;
import org.jspecify.annotations.Nullable;

/**
 * One rail of one role: its endpoint and address vector, and the owners of posted operations. Its
 * endpoint may be closed, as a fence for what was posted, and another one opened in its place.
 * After {@code -EAGAIN} nothing is offered to the provider for a while: {@link Refusals}.
 */
public final class RailPort {
  private static final int AGAIN = -FabricErrno.EAGAIN;
  private static final int EXPECTED_PEERS = 64;

  public final int number;
  public final String label;
  private final Domain domain;
  private final RailQueue queue;
  private final ContextTable operations;
  private final ContextTable receives;
  private final NanoClock clock;
  public final CounterBlock counters;
  private final boolean isData;
  private Opened opened;
  private int epoch;
  private int polls;
  private boolean retired;
  private boolean closed;
  private boolean draining;
  private @Nullable Failure broken;

  private @Nullable Failure retiredFor;

  /** Who uses it, and is told when it is to be used no more. */
  private final Map<RailUser, Integer> users = new LinkedHashMap<>();

  /** What is open, or was at last. */
  private record Opened(
      Rail rail,
      Endpoint endpoint,
      AddressVector addresses,
      InsertedAddresses peers,
      FabricAddress address) {

    /** If something refuses, nothing stays open. */
    static Opened open(String label, Domain domain, RailQueue queue, ContextTable operations) {
      AddressVector addresses = domain.openAddressVector(EXPECTED_PEERS);
      @Nullable Endpoint endpoint = null;
      try {
        endpoint = domain.openEndpoint(EndpointRequest.of(label, addresses, queue.queue()));
        return new Opened(
            new Rail(domain, endpoint),
            endpoint,
            addresses,
            new InsertedAddresses(addresses, label, operations::isOutTo),
            FabricAddress.of(endpoint.address()));
      } catch (RuntimeException e) {
        if (endpoint != null) {
          endpoint.close();
        }
        addresses.close();
        throw e;
      }
    }
  }

  /**
   * Opens one, whose completions go to that queue. If something refuses, nothing stays open, except
   * the queue.
   */
  public RailPort(
      int number,
      String label,
      Domain domain,
      RailQueue queue,
      NanoClock clock,
      CounterBlock counters,
      boolean isData) {
    this.counters = counters;
    this.isData = isData;
    this.number = number;
    this.label = label;
    this.domain = domain;
    this.queue = queue;
    operations = queue.operations();
    receives = queue.receives();
    this.clock = clock;
    opened = Opened.open(label, domain, queue, operations);
    queue.add(this);
  }

  public Rail rail() {
    return opened.rail();
  }

  public Optional<LinkTraffic> traffic(FabricAddress peer) {
    return closed ? Optional.empty() : opened.endpoint().linkTraffic(peer.bytes());
  }

  public String nic() {
    return domain.info().domainName();
  }

  /** Where peers reach it, or did before it closed. */
  public FabricAddress address() {
    return opened.address();
  }

  /**
   * Refuses a NIC over which a message of that length cannot be sent.
   *
   * @throws FabricException with {@code EMSGSIZE}, naming both lengths
   */
  public void requireSends(int bytes) {
    long most = opened.endpoint().limits().sendBytes();
    if (most < bytes) {
      throw new FabricException(
          "fi_getopt(FI_OPT_MAX_MSG_SIZE)",
          FabricErrno.EMSGSIZE,
          "",
          "%s: its sends end at %d bytes, and control messages have up to %d"
              .formatted(rail(), most, bytes));
    }
  }

  public InsertedAddresses peers() {
    return opened.peers();
  }

  /** A peer that stays known; throws as {@link InsertedAddresses#use}. */
  public InsertedAddresses.Entry peer(FabricAddress address) {
    return peers().use(address, true);
  }

  /** Posts an operation; answers as {@link Endpoint}'s posting calls. */
  public int post(OperationOwner owner, long cookie, Post what) {
    if (RailQueue.isLong(what.lengthBytes)) {
      queue.countLong();
    }
    InsertedAddresses.Entry inserted = what.peer;
    if (retired || inserted == null) {
      return AGAIN;
    }
    Refusals refusals = inserted.refusals;
    long peer = inserted.number();
    int context =
        refusals.count > 0 && refusals.forbids(polls, clock)
            ? ContextTable.NONE
            : operations.take(owner, cookie, peer);
    if (context < 0) {
      return AGAIN;
    }
    Endpoint to = opened.endpoint();
    long from = what.address;
    long bytes = what.lengthBytes;
    long descriptor = what.descriptor;
    long remote = what.remoteAddress;
    long key = what.key;
    long data = Integer.toUnsignedLong(what.data);
    long flags = what.flags;
    int answer =
        switch (what.call) {
          case SEND ->
              what.bringsData
                  ? to.sendData(from, bytes, descriptor, data, peer, context, flags)
                  : to.send(from, bytes, descriptor, peer, context, flags);
          case WRITE ->
              what.bringsData
                  ? to.writeData(from, bytes, descriptor, data, peer, remote, key, context, flags)
                  : to.write(from, bytes, descriptor, peer, remote, key, context, flags);
          case READ -> to.read(from, bytes, descriptor, peer, remote, key, context);
        };
    if (answer == 0) {
      counters.took(isData, what.call == Post.Call.READ, bytes);
    }
    if (answer == AGAIN) {
      counters.add(CounterType.PROVIDER_AGAIN, 1);
      refusals.refused(polls, clock);
    } else if (refusals.count > 0) {
      refusals.taken();
    }
    if (answer != 0) {
      operations.give(context);
    }
    return answer;
  }

  /** As {@link Endpoint#recv}, from any peer. */
  public int receive(OperationOwner owner, long cookie, long address, long bytes, long descriptor) {
    int context = receives.take(owner, cookie, AddressVector.ANY);
    if (context < 0) {
      return AGAIN;
    }
    int answer = opened.endpoint().recv(address, bytes, descriptor, AddressVector.ANY, context);
    if (answer != 0) {
      receives.give(context);
    }
    return answer;
  }

  /** Its queue was polled: what was refused may be taken now. */
  public void polled() {
    polls++;
  }

  /** Who uses it as a rail of that number is told what becomes of it, from now on. */
  public void add(RailUser user, int rail) {
    users.put(user, rail);
    if (broken != null || retired) {
      user.closes(rail, broken != null, broken != null ? broken : retiredFor);
    }
  }

  public void remove(RailUser user) {
    users.remove(user);
  }

  /** Its queue broke: tells the owners of what is in flight that it will never be known. */
  public void lose(Failure why) {
    end(why);
    operations.lose(this, why);
    receives.lose(this, why);
  }

  /** Which of its endpoints is open, or the next to be: all before are closed. */
  public int epoch() {
    return epoch;
  }

  /** All of its endpoints before that are closed; and if it stays closed, none of that is open. */
  public int closedBefore() {
    return closed && broken != null ? epoch + 1 : epoch;
  }

  /** Whether its endpoint is to be closed, or is closed: nothing can be posted. */
  public boolean isRetired() {
    return retired;
  }

  /** Its endpoint is to be closed: nothing more is posted. */
  public void retire(Failure why) {
    retiredFor = why;
    retired = true;
    tellGivenUp(false, why);
    users.forEach((user, rail) -> user.closes(rail, false, why));
  }

  /** Why its endpoint was to be closed last; null if it never was. */
  public @Nullable Failure retiredFor() {
    return retiredFor;
  }

  /**
   * Closes its endpoint, after which nothing that was posted to it can land. A second call does
   * nothing.
   *
   * @throws FabricException if the provider refuses
   */
  public void closeEndpoint() {
    opened.endpoint().close();
    epoch += closed ? 0 : 1;
    closed = true;
  }

  public boolean isClosed() {
    return closed;
  }

  /** Its endpoint is closed, and its queue is empty: tells the owners of what was under way. */
  public void drop(Failure why) {
    operations.drop(this, why);
    receives.drop(this, why);
  }

  /**
   * Opens another endpoint in place of the one that was closed.
   *
   * @throws FabricException if the provider refuses; nothing more is open then
   */
  public void reopen() {
    opened.peers().close();
    opened.addresses().close();
    opened = Opened.open(label, domain, queue, operations);
    retired = false;
    closed = false;
  }

  /** What is out to a peer that is silent here is posted again over another rail, if it can be. */
  public void moveOff(RailUser silent, Failure why) {
    operations.moveOff(silent, why);
  }

  public void end(Failure why) {
    broken = why;
    tellGivenUp(true, why);
    users.forEach((user, rail) -> user.closes(rail, true, why));
  }

  private void tellGivenUp(boolean forGood, Failure why) {
    Events.railGivenUp(label, number, nic(), forGood, why.errno(), why.toString());
  }

  public void cancelReceives() {
    receives.cancel(opened.endpoint());
  }

  public void cancelAll() {
    operations.cancel(opened.endpoint());
    cancelReceives();
  }

  /** Operations in flight that are no receives. */
  public int operationsOut() {
    return operations.taken();
  }

  public int inFlight() {
    return operations.taken() + receives.taken();
  }

  /** Why its completion queue broke, or it stays closed; null if it works, or will. */
  public @Nullable Failure brokenBy() {
    return broken;
  }

  /** The endpoint is closing: operations that fail from now on are not posted again. */
  public void drain() {
    draining = true;
  }

  public boolean isDraining() {
    return draining;
  }

  /** Hands endpoint and address vector to the graph that closes them, before the queue. */
  public void addTo(OwnershipGraph graph) {
    graph
        .own(opened.endpoint(), label)
        .own(opened.addresses(), "address vector of " + label)
        .closesBefore(opened.endpoint(), queue.queue())
        .closesBefore(opened.endpoint(), opened.addresses());
  }
}

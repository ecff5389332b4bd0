package org.jofi.rdma.connect;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.agrona.concurrent.NanoClock;
import org.jofi.fabric.Access;
import org.jofi.fabric.ProviderRelease;
import org.jofi.mr.registration.BufferRange;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.mr.registration.Descriptors;
import org.jofi.rdma.driver.Host;
import org.jofi.rdma.engine.ReceiveProtocol;
import org.jofi.rdma.engine.Receiver;
import org.jofi.rdma.engine.SendProtocol;
import org.jofi.rdma.engine.Sender;
import org.jofi.rdma.request.PeerLink;
import org.jofi.rdma.wire.EagerGrant;
import org.jofi.rdma.wire.Features;
import org.jofi.rdma.wire.MailboxTarget;
import org.jofi.simulated.SimulatedHost;
import org.jofi.simulated.Simulation;
import org.jofi.simulated.profile.Profile;
import org.jspecify.annotations.Nullable;

/** A host that makes connections. */
final class Node implements ConnectionFactory, AutoCloseable {
  static final long BOUND_NS = 2_000_000_000L;
  static final long REQUEST_NS = 3_000_000_000L;
  static final long SILENCE_NS = 1_000_000_000L;
  static final long REAL_BOUND_NS = 60_000_000_000L;
  private static final long MOST_BYTES = 1 << 20;

  final Host host;
  final ConnectionTable connections;

  /** Of the connections that it made, also of those that are gone. */
  final List<MemorySegment> mailboxes = new ArrayList<>();

  private SimulatedHost self;
  private @Nullable ConnectionFactory protocol;

  Node(Simulation simulation, Profile profile, int index, int rails) {
    this(simulation, profile, index, rails, EagerGrant.NONE);
  }

  /** One that takes and makes use of short messages before a receive is announced. */
  Node(Simulation simulation, Profile profile, int index, int rails, EagerGrant eager) {
    this(simulation, profile, index, rails, REQUEST_NS, SILENCE_NS, MOST_BYTES, eager);
  }

  /** One of a device whose endpoints tell each other that a process may be dead. */
  Node(Simulation simulation, Profile profile, int index, AtomicLong suspicions) {
    this(
        new Host(simulation, index, 1, 1),
        profile.behaviour().writeData(),
        simulation.seed() * 31 + index,
        simulation::nanoTime,
        BOUND_NS,
        REQUEST_NS,
        SILENCE_NS,
        MOST_BYTES,
        EagerGrant.NONE,
        suspicions);
    self = simulation.host(index);
  }

  Node(
      Simulation simulation,
      Profile profile,
      int index,
      int rails,
      long requestNs,
      long silenceNs) {
    this(simulation, profile, index, rails, requestNs, silenceNs, MOST_BYTES);
  }

  Node(
      Simulation simulation,
      Profile profile,
      int index,
      int rails,
      long requestNs,
      long silenceNs,
      long maxMessageBytes) {
    this(simulation, profile, index, rails, requestNs, silenceNs, maxMessageBytes, EagerGrant.NONE);
  }

  Node(
      Simulation simulation,
      Profile profile,
      int index,
      int rails,
      long requestNs,
      long silenceNs,
      long maxMessageBytes,
      EagerGrant eager) {
    this(
        new Host(simulation, index, rails, rails),
        profile.behaviour().writeData(),
        simulation.seed() * 31 + index,
        simulation::nanoTime,
        BOUND_NS,
        requestNs,
        silenceNs,
        maxMessageBytes,
        eager,
        new AtomicLong());
    self = simulation.host(index);
  }

  /** One in real time, where a busy machine may take any of the bounds of virtual time. */
  Node(Host host, boolean writesData, long seed, NanoClock clock) {
    this(
        host,
        writesData,
        seed,
        clock,
        REAL_BOUND_NS,
        REAL_BOUND_NS,
        REAL_BOUND_NS,
        MOST_BYTES,
        EagerGrant.NONE,
        new AtomicLong());
  }

  private Node(
      Host host,
      boolean writesData,
      long seed,
      NanoClock clock,
      long boundNs,
      long requestNs,
      long silenceNs,
      long maxMessageBytes,
      EagerGrant eager,
      AtomicLong suspicions) {
    SplittableRandom random = new SplittableRandom(seed);
    connections =
        new ConnectionTable(
            new ConnectionSettings(
                ProviderRelease.UNTOLD,
                Features.WRITE_THEN_SEND
                    | (writesData ? Features.WRITE_DATA : 0)
                    | (eager.isNone() ? 0 : Features.EAGER),
                maxMessageBytes,
                eager,
                boundNs,
                requestNs,
                boundNs,
                silenceNs,
                clock,
                random::nextLong,
                suspicions));
    this.host = host;
    host.sink = connections;
    connections.attach(host.endpoint, this);
  }

  /** Its messages move in another way than the product's. */
  Node speaking(ConnectionFactory other) {
    protocol = other;
    return this;
  }

  @Override
  public SendProtocol sender(
      PeerLink link, MemorySegment mailbox, long features, long maxMessageBytes, EagerGrant eager) {
    mailboxes.add(mailbox);
    if (protocol != null) {
      return protocol.sender(link, mailbox, features, maxMessageBytes, eager);
    }
    return new Sender(link, mailbox, (features & Features.WRITE_DATA) != 0, maxMessageBytes, eager);
  }

  @Override
  public ReceiveProtocol receiver(
      PeerLink link,
      MemorySegment copy,
      Descriptors registration,
      List<MailboxTarget> targets,
      EagerGrant eager) {
    if (protocol != null) {
      return protocol.receiver(link, copy, registration, targets, eager);
    }
    return new Receiver(link, copy, registration, targets, eager);
  }

  @Override
  public void close() {
    host.endpoint.close();
    connections.abandon();
    host.closeDevice();
  }

  /** Memory that it and its peers reach. */
  DataRegistration register(BufferRange range) {
    return host.endpoint.registrations.acquire(range, Access.ALL);
  }

  /** Whether its host died. */
  boolean isDead() {
    return self != null && self.isDead();
  }

  /** Closes its endpoint as after a failure: what is in flight is given up. */
  void abortEndpoint() {
    host.endpoint.abort();
    connections.abandon();
  }

  /** Closes it as after a failure. */
  void abort() {
    abortEndpoint();
    host.closeDevice();
  }
}

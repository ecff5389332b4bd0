package org.jofi.rdma.endpoint;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jofi.fabric.Access;
import org.jofi.fabric.Domain;
import org.jofi.fabric.ProviderTraits;
import org.jofi.mr.DeviceRegistrations;
import org.jofi.mr.EndpointRegistrations;
import org.jofi.mr.LocalRegistration;
import org.jofi.mr.registration.BufferRange;
import org.jofi.mr.scope.EndpointRails;
import org.jofi.mr.scope.Rail;
import org.jofi.mr.teardown.InFlightOperations;
import org.jofi.mr.teardown.OwnershipGraph;
import org.jofi.mr.teardown.Teardown;
import org.jofi.rdma.memory.BlockFreelist;
import org.jofi.rdma.memory.BlockRegistration;
import org.jofi.rdma.memory.FreelistShape;
import org.jofi.rdma.wire.FabricAddress;
import org.jofi.rdma.wire.HandshakeEncoder;
import org.jofi.rdma.wire.RailAddresses;
import org.jofi.transport.Failure;
import org.jspecify.annotations.Nullable;

/**
 * Data rails and control rails over the NICs of one device, driven under one lock, which callers
 * hold. It owns its rails, its registrations and its message buffers, and closes them through a
 * {@link Teardown}.
 *
 * <p>{@link #progress} polls every rail, passes arrivals on, and posts operations that wait. It
 * never throws because of an operation's error; each completion is passed to the owner of its
 * operation.
 */
public final class MultiRailEndpoint implements EndpointRails, InFlightOperations, AutoCloseable {
  private static final int MESSAGE_ALIGNMENT = 64;
  private static final int GROWTH = 64;
  private static final int MOST_OUTGOING = 8192;

  private final String label;
  private final ArrivalSink arrivals;
  private final List<RailPort> data = new ArrayList<>();
  private final List<RailPort> control = new ArrayList<>();
  private final List<RailPort> ports = new ArrayList<>();
  private final List<RailQueue> queues = new ArrayList<>();
  private final List<ReceiveBuffers> receives = new ArrayList<>();
  private final PendingPosts pending = new PendingPosts();
  private final ArrivalBudget budget;
  private final EndpointRegistrations registrations;
  private final BlockFreelist messages;
  private final OutgoingMessages outgoing;
  private final InlineCopies copies;
  private final FlushLanding landing;
  private final Teardown teardown;
  private boolean drained = true;

  private MultiRailEndpoint(
      String label,
      List<Domain> domains,
      DeviceRegistrations device,
      EndpointSettings settings,
      ArrivalSink arrivals) {
    this.label = label;
    this.arrivals = arrivals;
    budget =
        new ArrivalBudget(
            settings.queueEntries() - RailQueue.ownEntries(settings.slots()), pending);
    teardown =
        new Teardown(
            label, this, this::own, settings.clock(), settings.idle().get(), settings.drainNs());
    try {
      openPorts(domains, settings);
      registrations = device.attach(this);
    } catch (RuntimeException e) {
      closePorts(e);
      throw e;
    }
    int most = settings.controlRails() * ReceiveBuffers.COUNT + MOST_OUTGOING;
    messages =
        new BlockFreelist(
            "messages of " + label,
            new FreelistShape(
                HandshakeEncoder.MAX_BYTES, MESSAGE_ALIGNMENT, GROWTH, most, settings.pageBytes()),
            block -> registerBlock(block, controlRails(), Access.SEND | Access.RECV));
    outgoing = new OutgoingMessages(messages, pending);
    copies =
        new InlineCopies(
            label, settings.pageBytes(), block -> registerBlock(block, dataRails(), Access.WRITE));
    landing = new FlushLanding(data, settings.pageBytes());
  }

  /**
   * Opens one.
   *
   * @param domains the device's NICs, a data rail each; stay the caller's
   * @param device where memory is registered; stays the caller's
   * @param arrivals is told what peers send; with the lock held
   * @throws RuntimeException if a provider refuses something; nothing stays open then
   */
  public static MultiRailEndpoint open(
      String label,
      List<Domain> domains,
      DeviceRegistrations device,
      EndpointSettings settings,
      ArrivalSink arrivals) {
    MultiRailEndpoint endpoint = new MultiRailEndpoint(label, domains, device, settings, arrivals);
    try {
      endpoint.landing.open(endpoint.registrations);
      endpoint.startReceiving(settings);
      return endpoint;
    } catch (RuntimeException e) {
      endpoint.abortQuietly(e);
      throw e;
    }
  }

  private void openPorts(List<Domain> domains, EndpointSettings settings) {
    for (int i = 0; i < domains.size(); i++) {
      Domain domain = domains.get(i);
      queues.add(
          RailQueue.open(label, domain, settings.queueEntries(), settings.slots(), arrivals));
      data.add(open(i, "data", domain));
      if (i < settings.controlRails()) {
        control.add(open(i, "control", domain));
      }
    }
  }

  private RailPort open(int number, String role, Domain domain) {
    RailPort port =
        RailPort.open(
            number, "%s %s rail %d".formatted(label, role, number), domain, queues.get(number));
    ports.add(port);
    return port;
  }

  private void closePorts(RuntimeException cause) {
    OwnershipGraph graph = new OwnershipGraph();
    ownRails(graph);
    try {
      graph.close(true);
    } catch (RuntimeException e) {
      cause.addSuppressed(e);
    }
  }

  private void startReceiving(EndpointSettings settings) {
    // Reserve now: growing registers memory, which could fail and must not happen during a poll.
    messages.reserve(settings.controlRails() * ReceiveBuffers.COUNT + GROWTH);
    for (RailPort port : control) {
      ReceiveBuffers buffers =
          new ReceiveBuffers(port, messages, HandshakeEncoder.MAX_BYTES, pending);
      receives.add(buffers);
      buffers.start();
    }
  }

  private BlockRegistration registerBlock(MemorySegment block, List<Rail> on, long access) {
    LocalRegistration registration =
        registrations.registerLocal(BufferRange.host(block), on, access);
    return new BlockRegistration() {
      @Override
      public long descriptor(int rail) {
        return registration.descriptor(rail);
      }

      @Override
      public void close() {
        registration.close();
      }
    };
  }

  @Override
  public String label() {
    return label;
  }

  @Override
  public List<Rail> dataRails() {
    return data.stream().map(RailPort::rail).toList();
  }

  @Override
  public List<Rail> controlRails() {
    return control.stream().map(RailPort::rail).toList();
  }

  /** Of its NICs' provider. */
  public ProviderTraits traits() {
    return control.getFirst().rail().domain().info().traits();
  }

  /** A data rail. */
  public RailPort data(int rail) {
    return data.get(rail);
  }

  /** A control rail. */
  public RailPort control(int rail) {
    return control.get(rail);
  }

  /** How many data rails. */
  public int dataCount() {
    return data.size();
  }

  /** How many control rails. */
  public int controlCount() {
    return control.size();
  }

  /** Where peers reach its rails. */
  public RailAddresses addresses() {
    return new RailAddresses(addresses(control), addresses(data));
  }

  private static List<FabricAddress> addresses(List<RailPort> rails) {
    return rails.stream().map(RailPort::address).toList();
  }

  /** Where memory is registered for it. */
  public EndpointRegistrations registrations() {
    return registrations;
  }

  /** Longest inline write. */
  public int inlineWriteBytes() {
    return InlineCopies.BYTES;
  }

  /** Copies of what is written inline. */
  public InlineCopies inlineCopies() {
    return copies;
  }

  /** Where its flushes land. */
  public FlushLanding landing() {
    return landing;
  }

  /** Room for what peers write. */
  public ArrivalBudget budget() {
    return budget;
  }

  /** What waits to be posted. */
  public PendingPosts pending() {
    return pending;
  }

  /**
   * A message to fill in and {@link #send}.
   *
   * @return null if so many are on their way that there is no buffer
   */
  public @Nullable OutgoingMessage takeMessage() {
    return outgoing.take();
  }

  /** Gives a message back that is not sent after all. */
  public void giveBack(OutgoingMessage message) {
    outgoing.give(message);
  }

  /** Sends a message over a control rail, now or when one takes it. */
  public void send(
      OutgoingMessage message, PeerRails rails, int lengthBytes, SentListener who, long cookie) {
    message.address(rails, lengthBytes, who, cookie);
    pending.submit(message);
  }

  /**
   * Sends a message over the first control rail to an address that may not be a peer's. The address
   * is kept only for this message, and its outcome is not reported.
   *
   * @throws IllegalArgumentException if that is no address, or too many are answered now
   * @throws org.jofi.fabric.FabricException if the provider refuses the address
   */
  public void answer(OutgoingMessage message, FabricAddress stranger, int lengthBytes) {
    RailPort port = control.getFirst();
    PeerRails rails = new PeerRails(List.of(port), new long[] {port.peers().stranger(stranger)});
    send(message, rails, lengthBytes, (_, _) -> port.peers().answered(stranger), 0);
  }

  /**
   * Sends immediate data without a message over a control rail. For callers that are called while a
   * queue delivers.
   */
  public void deferImmediate(
      OutgoingMessage message, PeerRails rails, int bits, SentListener who, long cookie) {
    message.addressImmediate(rails, bits, who, cookie);
    pending.defer(message);
  }

  /** The data rails to a peer. */
  public PeerRails dataTo(RailAddresses peer) {
    return PeerRails.to(data, peer.data());
  }

  /** The control rails to a peer. */
  public PeerRails controlTo(RailAddresses peer) {
    return PeerRails.to(control, peer.control());
  }

  /**
   * The first control rail to where a peer listens.
   *
   * @throws IllegalArgumentException as {@link RailPort#peer}
   */
  public PeerRails controlTo(FabricAddress listener) {
    return PeerRails.to(control.subList(0, 1), List.of(listener));
  }

  /**
   * Polls every NIC, passes arrivals on, and posts operations that wait; returns the number of
   * events.
   */
  public int progress() {
    int events = 0;
    drained = true;
    for (int i = 0; i < queues.size(); i++) {
      RailQueue queue = queues.get(i);
      int polled = queue.poll();
      drained &= !RailQueue.leavesSome(polled);
      events += Math.max(0, polled);
      Failure why = polled < 0 ? queue.brokenBy() : null;
      if (why != null) {
        arrivals.broken(why);
      }
    }
    for (int i = 0; i < receives.size(); i++) {
      events += receives.get(i).deliver(arrivals);
    }
    pending.run();
    return events;
  }

  /** Whether the last {@link #progress} left nothing in a queue. */
  public boolean isDrained() {
    return drained;
  }

  /** Why the completion queue of a rail broke; null if all work. */
  public @Nullable Failure brokenBy() {
    for (int i = 0; i < queues.size(); i++) {
      Failure why = queues.get(i).brokenBy();
      if (why != null) {
        return why;
      }
    }
    return null;
  }

  /** How many completions belonged to no local operation, over all rails. */
  public long orphans() {
    return queues.stream().mapToLong(RailQueue::orphans).sum();
  }

  /** Receives of messages that failed, over all control rails. */
  public long failedReceives() {
    return receives.stream().mapToLong(ReceiveBuffers::failures).sum();
  }

  @Override
  public void cancelReceives() {
    ports.forEach(RailPort::drain);
    receives.forEach(ReceiveBuffers::stop);
  }

  @Override
  public void cancelAll() {
    cancelReceives();
    ports.forEach(RailPort::cancelAll);
  }

  @Override
  public int poll() {
    progress();
    int left = 0;
    for (RailPort port : ports) {
      left += port.inFlight();
    }
    return left;
  }

  @Override
  public String describe() {
    StringBuilder text = new StringBuilder();
    for (RailPort port : ports) {
      if (port.inFlight() > 0) {
        text.append(text.isEmpty() ? "" : ", ")
            .append(port.inFlight())
            .append(" on ")
            .append(port.label());
      }
    }
    return text.toString();
  }

  private void own(OwnershipGraph graph) {
    ownRails(graph);
    registrations.addTo(graph);
  }

  private void ownRails(OwnershipGraph graph) {
    queues.forEach(queue -> queue.addTo(graph));
    ports.forEach(port -> port.addTo(graph));
  }

  /**
   * Closes it in order, within its bound; a second call does nothing.
   *
   * @throws org.jofi.mr.teardown.TeardownException as {@link Teardown#close}
   */
  @Override
  public void close() {
    teardown.close();
    free();
  }

  /**
   * Closes it without waiting for requests to finish; a second call does nothing.
   *
   * @return how many operations were still in flight
   * @throws org.jofi.mr.teardown.TeardownException as {@link Teardown#abort}
   */
  public int abort() {
    int left = teardown.abort();
    free();
    return left;
  }

  private void free() {
    messages.abandon();
    copies.abandon();
    landing.free();
  }

  private void abortQuietly(RuntimeException cause) {
    try {
      abort();
    } catch (RuntimeException e) {
      cause.addSuppressed(e);
    }
  }
}

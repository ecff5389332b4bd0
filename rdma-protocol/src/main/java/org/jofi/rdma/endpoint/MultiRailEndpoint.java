package org.jofi.rdma.endpoint;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jofi.fabric.Access;
import org.jofi.fabric.Domain;
import org.jofi.mr.BufferRange;
import org.jofi.mr.DeviceRegistrations;
import org.jofi.mr.EndpointRails;
import org.jofi.mr.EndpointRegistrations;
import org.jofi.mr.InFlightOperations;
import org.jofi.mr.LocalRegistration;
import org.jofi.mr.OwnershipGraph;
import org.jofi.mr.Rail;
import org.jofi.mr.Teardown;
import org.jofi.rdma.memory.BlockFreelist;
import org.jofi.rdma.memory.BlockRegistration;
import org.jofi.rdma.memory.FreelistShape;
import org.jofi.rdma.wire.FabricAddress;
import org.jofi.rdma.wire.HandshakeEncoder;
import org.jofi.rdma.wire.RailAddresses;
import org.jspecify.annotations.Nullable;

/**
 * Data rails and control rails over the NICs of one device, driven under one lock: this object's
 * monitor, which callers hold. It owns its rails, its registrations and its message buffers, and
 * closes them through a {@link Teardown}.
 *
 * <p>{@link #progress} polls every rail, hands arrivals on and posts what waited. It never throws
 * for what completions say; each goes to the owner of its operation.
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
  private final List<ReceiveBuffers> receives = new ArrayList<>();
  private final PendingPosts pending = new PendingPosts();
  private final EndpointRegistrations registrations;
  private final BlockFreelist messages;
  private final OutgoingMessages outgoing;
  private final Teardown teardown;

  private MultiRailEndpoint(
      String label,
      List<Domain> domains,
      DeviceRegistrations device,
      EndpointSettings settings,
      ArrivalSink arrivals) {
    this.label = label;
    this.arrivals = arrivals;
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
            this::registerMessages);
    outgoing = new OutgoingMessages(messages);
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
    synchronized (endpoint) {
      try {
        endpoint.startReceiving(settings);
        return endpoint;
      } catch (RuntimeException e) {
        endpoint.abortQuietly(e);
        throw e;
      }
    }
  }

  private void openPorts(List<Domain> domains, EndpointSettings settings) {
    for (int i = 0; i < domains.size(); i++) {
      data.add(open(i, "data", domains.get(i), settings.slots()));
    }
    for (int i = 0; i < settings.controlRails(); i++) {
      control.add(open(i, "control", domains.get(i), settings.slots()));
    }
  }

  private RailPort open(int number, String role, Domain domain, int slots) {
    RailPort port =
        RailPort.open(
            number, "%s %s rail %d".formatted(label, role, number), domain, slots, arrivals);
    ports.add(port);
    return port;
  }

  private void closePorts(RuntimeException cause) {
    OwnershipGraph graph = new OwnershipGraph();
    ports.forEach(port -> port.addTo(graph));
    try {
      graph.close(true);
    } catch (RuntimeException e) {
      cause.addSuppressed(e);
    }
  }

  private void startReceiving(EndpointSettings settings) {
    // Growing registers memory, which must not happen, and fail, in the middle of a poll.
    messages.reserve(settings.controlRails() * ReceiveBuffers.COUNT + GROWTH);
    for (RailPort port : control) {
      ReceiveBuffers buffers =
          new ReceiveBuffers(port, messages, HandshakeEncoder.MAX_BYTES, pending);
      receives.add(buffers);
      buffers.start();
    }
  }

  private BlockRegistration registerMessages(MemorySegment block) {
    LocalRegistration registration =
        registrations.registerLocal(
            BufferRange.host(block), controlRails(), Access.SEND | Access.RECV);
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

  /** Sends a message over a control rail, now or when the rail takes it. */
  public void send(
      OutgoingMessage message,
      RailPort port,
      long peer,
      int lengthBytes,
      SentListener listener,
      long cookie) {
    message.address(port, peer, lengthBytes, listener, cookie);
    pending.submit(message);
  }

  /** Sends bare immediate data over a control rail; for who is called while a queue delivers. */
  public void deferImmediate(
      OutgoingMessage message, RailPort port, long peer, int bits, SentListener who, long cookie) {
    message.addressImmediate(port, peer, bits, who, cookie);
    pending.defer(message);
  }

  /** Polls every rail, hands arrivals on, posts what waited; how much came of it. */
  public int progress() {
    int events = 0;
    for (int i = 0; i < ports.size(); i++) {
      events += ports.get(i).poll();
    }
    for (int i = 0; i < receives.size(); i++) {
      events += receives.get(i).deliver(arrivals);
    }
    pending.run();
    return events;
  }

  /** Completions that belong to no operation of this side, over all rails. */
  public long orphans() {
    return ports.stream().mapToLong(RailPort::orphans).sum();
  }

  /** Receives of messages that failed, over all control rails. */
  public long failedReceives() {
    return receives.stream().mapToLong(ReceiveBuffers::failures).sum();
  }

  @Override
  public void cancelReceives() {
    receives.forEach(ReceiveBuffers::stop);
  }

  @Override
  public void cancelAll() {
    cancelReceives();
    ports.forEach(port -> port.cancel(null));
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
    ports.forEach(port -> port.addTo(graph));
    registrations.addTo(graph);
  }

  /**
   * Closes it in order, within its bound; again is a no-op.
   *
   * @throws org.jofi.mr.TeardownException as {@link Teardown#close}
   */
  @Override
  public synchronized void close() {
    teardown.close();
    messages.abandon();
  }

  /**
   * Closes it as fast as it can be done; again is a no-op.
   *
   * @return how many operations were still in flight
   * @throws org.jofi.mr.TeardownException as {@link Teardown#abort}
   */
  public synchronized int abort() {
    int left = teardown.abort();
    messages.abandon();
    return left;
  }

  private void abortQuietly(RuntimeException cause) {
    try {
      abort();
    } catch (RuntimeException e) {
      cause.addSuppressed(e);
    }
  }
}

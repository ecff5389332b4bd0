package org.jofi.rdma.driver;

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
import org.jofi.rdma.memory.BufferShape;
import org.jofi.rdma.memory.RegisteredBuffers;
import org.jofi.rdma.nic.ArrivalSink;
import org.jofi.rdma.nic.FlushLanding;
import org.jofi.rdma.nic.RailPort;
import org.jofi.rdma.nic.RailQueue;
import org.jofi.rdma.nic.ReceiveBuffers;
import org.jofi.rdma.operation.ArrivalBudget;
import org.jofi.rdma.operation.EndpointContext;
import org.jofi.rdma.operation.OperationSink;
import org.jofi.rdma.operation.Tasks;
import org.jofi.rdma.wire.Handshake;
import org.jofi.rdma.wire.ProtocolLimits;
import org.jofi.rdma.wire.RailAddresses;

/**
 * Data rails and control rails over the NICs of one device, driven under one lock, which callers
 * hold. It owns its rails, its registrations and its message buffers, and closes them through a
 * {@link Teardown}.
 *
 * <p>{@link #progress} polls every rail, passes arrivals on, and posts operations that wait. It
 * never throws because of an operation's error; each completion is passed to the owner of its
 * operation.
 */
public final class EndpointDriver implements EndpointRails, InFlightOperations, AutoCloseable {
  private static final int ALIGNMENT = 64;
  private static final int GROWTH = 64;
  private static final int MOST_OUTGOING = 8192;
  private static final int MOST_COPIES = 4096;

  private final String label;
  private final ArrivalSink arrivals;
  public final Rails rails;
  private final List<ReceiveBuffers> receives = new ArrayList<>();
  final Tasks tasks = new Tasks();
  final RailRetirement retirement;
  public final Peers peers;
  public final EndpointRegistrations registrations;
  public final EndpointContext context;
  private final RegisteredBuffers messages;
  public final OutgoingMessages outgoing;

  /** Of what is written inline. */
  final RegisteredBuffers copies;

  final FlushLanding landing;
  private final Teardown teardown;

  /**
   * Opens one.
   *
   * @param domains the device's NICs, a data rail each; stay the caller's
   * @param device where memory is registered; stays the caller's
   * @param arrivals is told what peers send; with the lock held
   * @throws RuntimeException if a provider refuses something; nothing stays open then
   */
  public EndpointDriver(
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
    rails = new Rails(label, domains, settings, arrivals);
    try {
      registrations = device.attach(this);
    } catch (RuntimeException e) {
      rails.close(e);
      throw e;
    }
    int perRail = ProtocolLimits.stripes(domains.size()) / domains.size();
    int arrivalsPerQueue = settings.queueEntries() - RailQueue.ownEntries(settings.slots());
    context =
        new EndpointContext(
            label,
            domains.size(),
            settings.controlRails(),
            Math.max(Handshake.MAX_BYTES, settings.packetBytes()),
            traits().smallWritesNeedDelivery(),
            traits().completionMeansDelivered(),
            tasks,
            new ArrivalBudget(arrivalsPerQueue / perRail, tasks),
            settings.counters());
    int most = settings.controlRails() * ReceiveBuffers.COUNT + MOST_OUTGOING;
    messages =
        new RegisteredBuffers(
            "messages of " + label,
            new BufferShape(context.packetBytes(), ALIGNMENT, GROWTH, most, settings.pageBytes()),
            block -> registerBlock(block, controlRails(), Access.SEND | Access.RECV));
    outgoing = new OutgoingMessages(messages, rails.control, tasks);
    copies =
        new RegisteredBuffers(
            "inline copies of " + label,
            new BufferShape(
                OperationSink.INLINE_BYTES, ALIGNMENT, GROWTH, MOST_COPIES, settings.pageBytes()),
            block -> registerBlock(block, dataRails(), Access.WRITE));
    landing =
        new FlushLanding(
            rails.data,
            settings.pageBytes(),
            block -> registerBlock(block, dataRails(), Access.READ));
    retirement = new RailRetirement(rails, arrivals, registrations, landing);
    peers = new Peers(addresses -> new Peer(this, rails.data, addresses, settings), retirement);
    try {
      landing.open();
      startReceiving(settings);
    } catch (RuntimeException e) {
      try {
        abort();
      } catch (RuntimeException refused) {
        e.addSuppressed(refused);
      }
      throw e;
    }
  }

  private void startReceiving(EndpointSettings settings) {
    // Reserve now: growing registers memory, which could fail and must not happen during a poll.
    messages.reserve(settings.controlRails() * ReceiveBuffers.COUNT + GROWTH);
    for (RailPort port : rails.control) {
      ReceiveBuffers buffers =
          new ReceiveBuffers(
              port, messages, context.packetBytes(), tasks, context.counters().all());
      receives.add(buffers);
      buffers.start();
    }
  }

  private RegisteredBuffers.Registration registerBlock(
      MemorySegment block, List<Rail> on, long access) {
    LocalRegistration registration =
        registrations.registerLocal(BufferRange.host(block), on, access);
    return new RegisteredBuffers.Registration(registration, registration::close);
  }

  @Override
  public String label() {
    return label;
  }

  @Override
  public List<Rail> dataRails() {
    return rails.data.stream().map(RailPort::rail).toList();
  }

  @Override
  public List<Rail> controlRails() {
    return rails.control.stream().map(RailPort::rail).toList();
  }

  public ProviderTraits traits() {
    return rails.control.getFirst().rail().domain().info().traits();
  }

  public RailPort data(int rail) {
    return rails.data.get(rail);
  }

  public RailPort control(int rail) {
    return rails.control.get(rail);
  }

  public int dataCount() {
    return rails.data.size();
  }

  public int controlCount() {
    return rails.control.size();
  }

  /** By data rail, the network that it is on: over IP, its subnet. */
  public List<String> networks() {
    return dataRails().stream().map(rail -> rail.domain().info().fabricName()).toList();
  }

  public RailAddresses addresses() {
    return rails.addresses();
  }

  /** How long a data rail may be silent, in nanoseconds; of several. */
  public long railBoundNs() {
    return SilenceDetector.boundNs(traits());
  }

  /**
   * The way to a peer, which becomes known on each rail.
   *
   * @throws IllegalArgumentException if it has not as many rails as this endpoint, or an address is
   *     none
   * @throws org.jofi.fabric.FabricException if a provider refuses an address
   */
  public OperationSink path(RailAddresses peer) {
    return new Path(this, peer);
  }

  public PeerRails controlTo(RailAddresses peer) {
    PeerRails control = new PeerRails(rails.control, outgoing, peer.control(), true);
    // With one, it is known that the handshake went over it.
    return control.count() == 1 ? control.connected() : control;
  }

  /** Polls every NIC, passes arrivals on, and posts operations that wait; how many events. */
  public int progress() {
    int events = rails.poll();
    for (int i = 0; i < receives.size(); i++) {
      events += receives.get(i).deliver(arrivals);
    }
    tasks.run();
    return events;
  }

  @Override
  public void cancelReceives() {
    rails.drain();
    receives.forEach(ReceiveBuffers::stop);
  }

  @Override
  public void cancelAll() {
    cancelReceives();
    rails.cancelAll();
  }

  @Override
  public int poll() {
    progress();
    return rails.inFlight();
  }

  @Override
  public String describe() {
    return rails.describe();
  }

  private void own(OwnershipGraph graph) {
    rails.addTo(graph);
    registrations.addTo(graph);
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
    peers.close();
    rails.closeAddresses();
    messages.abandon();
    copies.abandon();
    landing.free();
  }
}

package org.jofi.simulated;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.agrona.collections.Long2ObjectHashMap;
import org.jspecify.annotations.Nullable;

/**
 * All hosts and NICs, and the transfers between them. One lock guards everything, except that
 * programs take completions from a ring without it.
 */
final class Network {
  /** What a poll costs in virtual time. */
  static final long POLL_NANOS = 20;

  /** What a post costs in virtual time until the NIC has it. */
  static final long DOORBELL_NANOS = 100;

  private final ReentrantLock lock = new ReentrantLock();
  private final Clock clock;
  private final Trace trace;
  private final Faults faults;
  private final Contracts contracts;
  private final SplittableRandom random;
  private final EventQueue events = new EventQueue();
  private final Staging staging;
  private final Transfers transfers;
  private final DeviceRanges deviceMemory;
  private final MappedRanges mapped = new MappedRanges();
  private final @Nullable LinkMap links;
  private final Engine engine;
  private final List<SimulatedHost> hosts = new ArrayList<>();
  private final List<SimulatedNic> nics = new ArrayList<>();
  private final Long2ObjectHashMap<SimulatedEndpoint> endpoints = new Long2ObjectHashMap<>();
  private final Long2ObjectHashMap<RegisteredMemory> descriptors = new Long2ObjectHashMap<>();
  private final Map<Long, Lifecycle> open = new LinkedHashMap<>();
  private final PollBudget pollBudget = new PollBudget();
  private long serials;
  private long completions;

  Network(
      Clock clock,
      long seed,
      FaultPlan plan,
      Strictness strictness,
      @Nullable LinkMap links,
      Arena arena) {
    this.clock = clock;
    this.trace = new Trace(clock);
    this.faults = new Faults(seed, plan, trace);
    this.contracts = new Contracts(strictness);
    this.random = new SplittableRandom(seed);
    this.staging = new Staging(arena);
    this.transfers = new Transfers(staging);
    this.deviceMemory = new DeviceRanges(arena);
    this.links = links;
    this.engine = new Engine(this);
  }

  /** Adds a host with this many NICs of each profile. */
  void addHost(List<Profile> profiles, int nicsEach) {
    SimulatedHost host = new SimulatedHost(this, hosts.size());
    for (Profile profile : profiles) {
      for (int i = 0; i < nicsEach; i++) {
        SimulatedNic nic = new SimulatedNic(this, host, i, nics.size(), profile);
        nics.add(nic);
        host.add(nic);
      }
    }
    hosts.add(host);
  }

  void enter() {
    lock.lock();
  }

  void exit() {
    lock.unlock();
  }

  /**
   * Processes all events that are due. Any thread. In real time only one thread does this at a
   * time, and others return at once.
   */
  void progress() {
    if (events.nextDue() > clock.nanoTime()) {
      return;
    }
    if (clock.isVirtual()) {
      lock.lock();
    } else if (!lock.tryLock()) {
      return;
    }
    try {
      runDue();
    } finally {
      lock.unlock();
    }
  }

  private void runDue() {
    // Events that become due meanwhile are left to the next call, so that this one ends.
    long now = clock.nanoTime();
    for (Event event = events.takeDue(now); event != null; event = events.takeDue(now)) {
      Transfer transfer = event.transfer;
      Stage stage = event.stage;
      long order = event.order;
      events.recycle(event);
      if (transfer != null) {
        transfer.order = order;
        transfer.scheduled--;
        engine.run(stage, transfer);
        engine.settle(transfer);
      }
    }
  }

  /** Draws a number from 0 to {@code bound} - 1. */
  long draw(long bound) {
    return random.nextLong(bound);
  }

  /** Draws any number. */
  long draw() {
    return random.nextLong();
  }

  /** A number for an object, never used again. */
  long serial() {
    return ++serials;
  }

  void opened(Lifecycle object) {
    open.put(object.serial(), object);
    trace.record(TraceKind.OPEN, object.serial(), 0, 0);
  }

  void closed(Lifecycle object) {
    open.remove(object.serial());
    trace.record(TraceKind.CLOSE, object.serial(), 0, 0);
  }

  /** The open objects, oldest first. */
  List<Lifecycle> openObjects() {
    return List.copyOf(open.values());
  }

  Link link(SimulatedNic from, SimulatedNic to) {
    return links == null
        ? from.profile().link()
        : links.between(from.host().index(), from.index(), to.host().index(), to.index());
  }

  @Nullable SimulatedNic nic(int number) {
    return number >= 0 && number < nics.size() ? nics.get(number) : null;
  }

  void register(SimulatedEndpoint endpoint, long key) {
    endpoints.put(key, endpoint);
  }

  void unregister(long key) {
    endpoints.remove(key);
  }

  @Nullable SimulatedEndpoint endpoint(long key) {
    return endpoints.get(key);
  }

  Long2ObjectHashMap<RegisteredMemory> descriptors() {
    return descriptors;
  }

  void forEachEndpoint(Consumer<SimulatedEndpoint> action) {
    endpoints.values().forEach(action);
  }

  /** Counts a delivered completion. */
  void completion() {
    completions++;
  }

  /** How many completions were delivered. */
  long completions() {
    return completions;
  }

  List<SimulatedHost> hosts() {
    return hosts;
  }

  List<SimulatedNic> nics() {
    return nics;
  }

  Clock clock() {
    return clock;
  }

  Trace trace() {
    return trace;
  }

  Faults faults() {
    return faults;
  }

  Contracts contracts() {
    return contracts;
  }

  EventQueue events() {
    return events;
  }

  Engine engine() {
    return engine;
  }

  Staging staging() {
    return staging;
  }

  Transfers transfers() {
    return transfers;
  }

  DeviceRanges deviceMemory() {
    return deviceMemory;
  }

  MappedRanges mapped() {
    return mapped;
  }

  PollBudget pollBudget() {
    return pollBudget;
  }
}

package org.jofi.simulated.network;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.locks.ReentrantLock;
import org.jofi.simulated.contract.Strictness;
import org.jofi.simulated.fault.FaultPlan;
import org.jofi.simulated.memory.DeviceRanges;
import org.jofi.simulated.memory.MappedRanges;
import org.jofi.simulated.memory.Staging;
import org.jofi.simulated.profile.Link;
import org.jofi.simulated.profile.LinkMap;
import org.jofi.simulated.profile.Profile;
import org.jofi.simulated.trace.Clock;
import org.jofi.simulated.trace.Trace;
import org.jofi.simulated.trace.TraceKind;
import org.jspecify.annotations.Nullable;

/**
 * All hosts and NICs, and what everything in their network shares: the time, the memory, the
 * contracts, the faults, and the trace. One lock guards everything, except that programs take
 * completions from a ring without it.
 */
public final class Network {
  private final ReentrantLock lock = new ReentrantLock();
  private final Clock clock;
  private final Trace trace;
  private final Faults faults;
  private final Contracts contracts;
  private final SplittableRandom random;
  private final Staging staging;
  private final DeviceRanges deviceMemory;
  private final MappedRanges mapped = new MappedRanges();
  private final @Nullable LinkMap links;
  private final List<Host> hosts = new ArrayList<>();
  private final List<Nic> nics = new ArrayList<>();
  private final Map<Long, Lifecycle> open = new LinkedHashMap<>();
  private final PollBudget pollBudget = new PollBudget();
  private long serials;
  private long completions;

  public Network(
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
    this.deviceMemory = new DeviceRanges(arena);
    this.links = links;
  }

  /** Adds a host with this many NICs of each profile. */
  public void addHost(List<Profile> profiles, int nicsEach) {
    Host host = new Host(hosts.size());
    for (Profile profile : profiles) {
      for (int i = 0; i < nicsEach; i++) {
        Nic nic = new Nic(this, host, i, nics.size(), profile);
        nics.add(nic);
        host.add(nic);
      }
    }
    hosts.add(host);
  }

  public void enter() {
    lock.lock();
  }

  public void exit() {
    lock.unlock();
  }

  /** Takes the lock if it is free; returns whether it did. */
  public boolean tryEnter() {
    return lock.tryLock();
  }

  /** Draws a number from 0 to {@code bound} - 1. */
  public long draw(long bound) {
    return random.nextLong(bound);
  }

  /** Draws any number. */
  public long draw() {
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
  public List<Lifecycle> openObjects() {
    return List.copyOf(open.values());
  }

  public Link link(Nic from, Nic to) {
    return links == null
        ? from.profile().link()
        : links.between(from.host().index(), from.index(), to.host().index(), to.index());
  }

  public @Nullable Nic nic(int number) {
    return number >= 0 && number < nics.size() ? nics.get(number) : null;
  }

  /** Counts a delivered completion. */
  public void completion() {
    completions++;
  }

  /** How many completions were delivered. */
  public long completions() {
    return completions;
  }

  public List<Host> hosts() {
    return hosts;
  }

  public List<Nic> nics() {
    return nics;
  }

  public Clock clock() {
    return clock;
  }

  public Trace trace() {
    return trace;
  }

  public Faults faults() {
    return faults;
  }

  public Contracts contracts() {
    return contracts;
  }

  public Staging staging() {
    return staging;
  }

  public DeviceRanges deviceMemory() {
    return deviceMemory;
  }

  public MappedRanges mapped() {
    return mapped;
  }

  public PollBudget pollBudget() {
    return pollBudget;
  }
}

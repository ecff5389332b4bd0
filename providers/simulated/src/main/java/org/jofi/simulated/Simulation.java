package org.jofi.simulated;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.LongSupplier;
import org.jofi.simulated.contract.ContractViolationException;
import org.jofi.simulated.contract.Strictness;
import org.jofi.simulated.engine.Engine;
import org.jofi.simulated.fault.Fault;
import org.jofi.simulated.fault.FaultPlan;
import org.jofi.simulated.network.Network;
import org.jofi.simulated.profile.LinkMap;
import org.jofi.simulated.profile.Profile;
import org.jofi.simulated.stall.RunLimits;
import org.jofi.simulated.stall.SimulationStalledException;
import org.jofi.simulated.trace.Clock;
import org.jspecify.annotations.Nullable;

/**
 * A network in virtual time and the programs that use it, on one thread. The same seed, options and
 * programs always give the same run.
 *
 * <p>{@link #run} steps each participant, in an order drawn from the seed. When none has anything
 * to do, time jumps to the next event. If there is no event, time advances in growing ticks, so
 * that time-outs are reached. A run in which nothing happens for too long fails with a dump of
 * everything that is pending.
 *
 * <p>Close it after the endpoints of live hosts are closed. Memory that participants registered
 * must stay valid until its region or the simulation is closed.
 */
public final class Simulation implements AutoCloseable {
  private static final long ROUND_NANOS = 200;
  private static final long FIRST_TICK_NANOS = 1_000;
  private static final long LAST_TICK_NANOS = 10_000_000;

  private record Entry(SimulatedHost host, Participant participant) {
    boolean isRunning() {
      return !host.isDead() && !participant.isDone();
    }
  }

  private final long seed;
  private final RunLimits limits;
  private final Arena arena = Arena.ofConfined();
  private final Network network;
  private final Engine engine;
  private final List<SimulatedHost> hosts;
  private final SplittableRandom random;
  private final List<Entry> entries = new ArrayList<>();
  private final Dump dump;
  private long tick = FIRST_TICK_NANOS;

  private Simulation(Builder builder) {
    this.seed = builder.seed;
    this.limits = builder.limits;
    this.random = new SplittableRandom(~builder.seed);
    this.network =
        new Network(
            new Clock.Virtual(),
            builder.seed,
            builder.faults,
            builder.strictness,
            builder.links,
            arena);
    for (int i = 0; i < builder.hosts; i++) {
      network.addHost(List.of(builder.profile), builder.nicsPerHost);
    }
    this.engine = new Engine(network);
    this.hosts = network.hosts().stream().map(host -> new SimulatedHost(engine, host)).toList();
    this.dump =
        new Dump(
            engine,
            "seed %d, profile %s, %d hosts, %d NICs each, faults %s"
                .formatted(
                    builder.seed,
                    builder.profile.name(),
                    builder.hosts,
                    builder.nicsPerHost,
                    builder.faults));
  }

  /** A simulation of a profile: two hosts with one NIC each, seed 1, no faults, strict. */
  public static Builder of(Profile profile) {
    return new Builder(profile);
  }

  /** The seed of its random numbers. */
  public long seed() {
    return seed;
  }

  /** A host. */
  public SimulatedHost host(int index) {
    return hosts.get(index);
  }

  /** All hosts, in order. */
  public List<SimulatedHost> hosts() {
    return hosts;
  }

  /** Adds a program that runs on this host. It stops when the host dies. */
  public void add(SimulatedHost host, Participant participant) {
    entries.add(new Entry(host, participant));
  }

  /** Virtual time, in nanoseconds from the start. */
  public long nanoTime() {
    return network.clock().nanoTime();
  }

  /** Virtual time, to pass to programs. */
  public LongSupplier clock() {
    return network.clock()::nanoTime;
  }

  /**
   * Runs until all participants of live hosts are done.
   *
   * @throws SimulationStalledException if nothing happens for longer than the limits allow, or a
   *     participant throws an exception, which is the cause then. The message is a dump
   * @throws ContractViolationException if a participant broke a contract and no call has thrown it
   *     already
   */
  public void run() {
    Progress progress = new Progress();
    while (isRunning()) {
      boolean worked = stepAll();
      network.contracts().throwDiscovered();
      network.clock().spend(ROUND_NANOS);
      engine.progress();
      if (!worked) {
        idle();
      }
      String stall = progress.check(worked);
      if (stall != null) {
        throw new SimulationStalledException(dump.of(stall, participants()));
      }
    }
    network.contracts().throwDiscovered();
  }

  /** Whether no transfer is in progress, except those that wait for a poll. */
  public boolean isQuiet() {
    return engine.isQuiet();
  }

  /** Lets all transfers in progress arrive, without stepping any participant. */
  public void settle() {
    while (!isQuiet()) {
      network.clock().advanceTo(engine.nextDue());
      engine.progress();
    }
    network.contracts().throwDiscovered();
  }

  /**
   * Advances time to the next event, or by a growing tick. A program that must wait inside a step
   * uses it instead of an idle strategy.
   */
  public void idle() {
    long now = network.clock().nanoTime();
    network.clock().advanceTo(Math.min(engine.nextDue(), now + tick));
    long passed = network.clock().nanoTime() - now;
    tick = passed < tick ? FIRST_TICK_NANOS : Math.min(2 * tick, LAST_TICK_NANOS);
    engine.progress();
  }

  private boolean isRunning() {
    for (int i = 0; i < entries.size(); i++) {
      if (entries.get(i).isRunning()) {
        return true;
      }
    }
    return false;
  }

  private boolean stepAll() {
    boolean worked = false;
    int count = entries.size();
    int first = random.nextInt(count);
    boolean backwards = random.nextBoolean();
    for (int i = 0; i < count; i++) {
      Entry entry = entries.get(Math.floorMod(backwards ? first - i : first + i, count));
      if (entry.isRunning()) {
        worked |= step(entry.participant()) > 0;
      }
    }
    return worked;
  }

  private int step(Participant participant) {
    network.pollBudget().begin(limits.pollsPerStep());
    try {
      return participant.step();
    } catch (ContractViolationException violation) {
      throw violation;
    } catch (Exception | AssertionError e) {
      throw new SimulationStalledException(
          dump.of(participant.name() + " threw " + e, participants()), e);
    }
  }

  private List<Participant> participants() {
    return entries.stream().filter(Entry::isRunning).map(Entry::participant).toList();
  }

  /** The hash of everything that happened. */
  public long traceHash() {
    return network.trace().hash();
  }

  /** How many operations were posted. */
  public long operations() {
    return engine.posted();
  }

  /** How often each fault happened, including those that never did. */
  public Map<Fault, Long> faults() {
    return network.faults().counts();
  }

  /** The first violations of contracts, at most 100, oldest first. */
  public List<ContractViolationException> violations() {
    return network.contracts().violations();
  }

  /**
   * The objects that are still open, with their history, oldest first: those that a program forgot
   * to close.
   */
  public List<String> openObjects() {
    return network.openObjects().stream().map(object -> object.history().describe()).toList();
  }

  /** A text that lists everything that is pending. */
  public String describe() {
    return dump.of("asked for", participants());
  }

  /** Frees its resources. Nothing of it may be used afterwards. A second call does nothing. */
  @Override
  public void close() {
    if (arena.scope().isAlive()) {
      arena.close();
    }
  }

  /** Detects that nothing happens. */
  private final class Progress {
    private long lines = network.completions();
    private long since = network.clock().nanoTime();
    private long barren;

    @Nullable String check(boolean worked) {
      long now = network.clock().nanoTime();
      if (network.completions() != lines) {
        lines = network.completions();
        since = now;
        barren = 0;
        return null;
      }
      if (worked) {
        since = now;
        return ++barren > limits.barrenRounds()
            ? "participants are busy, and nothing completes"
            : null;
      }
      return now - since > limits.idle().toNanos() ? "no progress" : null;
    }
  }

  /** Collects the options of a simulation. */
  public static final class Builder {
    private final Profile profile;
    private long seed = 1;
    private int hosts = 2;
    private int nicsPerHost = 1;
    private FaultPlan faults = FaultPlan.none();
    private Strictness strictness = Strictness.THROW;
    private @Nullable LinkMap links;
    private RunLimits limits = RunLimits.USUAL;

    private Builder(Profile profile) {
      this.profile = profile;
    }

    /** The seed of the random numbers. */
    public Builder seed(long value) {
      seed = value;
      return this;
    }

    /** How many hosts, at least 1. */
    public Builder hosts(int value) {
      if (value < 1) {
        throw new IllegalArgumentException("a network needs a host, not " + value);
      }
      hosts = value;
      return this;
    }

    /** How many NICs each host has, 1 to 8. */
    public Builder nicsPerHost(int value) {
      if (value < 1 || value > SimulatedProvider.MOST_NICS) {
        throw new IllegalArgumentException(
            "a host has 1 to %d NICs, not %d".formatted(SimulatedProvider.MOST_NICS, value));
      }
      nicsPerHost = value;
      return this;
    }

    /** The faults to inject. */
    public Builder faults(FaultPlan value) {
      faults = value;
      return this;
    }

    /** What happens to a program that breaks a contract. */
    public Builder strictness(Strictness value) {
      strictness = value;
      return this;
    }

    /** The links between NICs; by default the profile's link everywhere. */
    public Builder links(LinkMap value) {
      links = value;
      return this;
    }

    /** When a run counts as stuck. */
    public Builder limits(RunLimits value) {
      limits = value;
      return this;
    }

    /** Opens the simulation. The caller closes it. */
    public Simulation open() {
      return new Simulation(this);
    }
  }
}

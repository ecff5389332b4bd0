package org.jofi.rdma.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;
import org.jofi.fabric.FabricException;
import org.jofi.rdma.engine.Script;
import org.jofi.rdma.wire.EagerGrant;
import org.jofi.simulated.SimulatedHost;
import org.jofi.simulated.Simulation;
import org.jofi.simulated.fault.Fault;
import org.jofi.simulated.fault.FaultPlan;
import org.jofi.simulated.profile.Profile;
import org.jspecify.annotations.Nullable;

/**
 * One run of the whole protocol, drawn from a seed: hosts with rails, communicators both ways, all
 * that they send, and how and when each is closed. The same profile, seed, groups and faults give
 * the same run.
 */
final class ProtocolRun {
  static final int PATTERN_BYTES = 1 << 16;
  private static final int ROUNDS = 2_000_000;

  /** How long nothing may happen before every bound has passed. */
  private static final long PATIENCE_NS =
      Node.REQUEST_NS + 3 * Node.SILENCE_NS + 2 * Node.BOUND_NS + 1_000_000_000L;

  private final String line;
  private final Profile profile;
  private final long seed;
  private final FaultPlan faults;
  private final boolean reported;
  private final Random random;
  private final int longestStallMs;
  private final boolean patient;
  private final int groups;
  private final List<Node> nodes = new ArrayList<>();
  private final List<Communicator> communicators = new ArrayList<>();
  private Simulation simulation;
  private long lastEvent;

  /** What came of it. */
  record Outcome(int successes, int failures, int whole, int communicators) {}

  ProtocolRun(Profile profile, long seed, int groups, FaultPlan faults) {
    line =
        "profile %s, seed %d, %d groups, faults %s".formatted(profile.name(), seed, groups, faults);
    this.profile = profile;
    this.seed = seed;
    this.faults = faults;
    this.groups = groups;
    reported = Fault.of(Fault.Kind.REPORTED).stream().anyMatch(faults::has);
    // The first numbers of Random are the same for seeds that are close to each other.
    random = Random.from(new SplittableRandom(seed));
    // Either shorter than anybody waits, or longer than everybody does.
    longestStallMs = random.nextBoolean() ? 250 : 4_000;
    patient = longestStallMs == 250 && !faults.has(Fault.COMPLETION_ERROR);
    simulation = null;
  }

  Outcome run() {
    int hosts = 2 + random.nextInt(2);
    int rails = 1 + random.nextInt(3);
    try (Arena arena = Arena.ofShared();
        Simulation made =
            Simulation.of(profile)
                .seed(seed)
                .hosts(hosts)
                .nicsPerHost(rails)
                .faults(faults)
                .open()) {
      simulation = made;
      if (!open(hosts, rails)) {
        return new Outcome(0, 0, 0, 0);
      }
      MemorySegment pattern = arena.allocate(PATTERN_BYTES, 128);
      for (int at = 0; at < PATTERN_BYTES; at += Long.BYTES) {
        pattern.set(ValueLayout.JAVA_LONG, at, random.nextLong());
      }
      int rounds = 1 + random.nextInt(2);
      for (int round = 0; round < rounds; round++) {
        round(arena, pattern, round == 0);
      }
      finish();
      return new Outcome(
          sum(c -> c.successes),
          sum(c -> c.failures),
          sum(c -> c.isWhole() ? 1 : 0),
          communicators.size());
    } catch (RuntimeException | AssertionError e) {
      throw new AssertionError(line + ": " + e.getMessage(), e);
    }
  }

  /** Whether all hosts live long enough to be opened. */
  private boolean open(int hosts, int rails) {
    try {
      for (int host = 0; host < hosts; host++) {
        nodes.add(new Node(simulation, profile, host, rails, eager(host)));
      }
      return true;
    } catch (FabricException e) {
      if (reported && simulation.hosts().stream().anyMatch(host -> !isUnscathed(host))) {
        nodes.forEach(Node::abort);
        return false;
      }
      throw e;
    }
  }

  /** On at some hosts, off at others: a bit of the seed each. */
  private EagerGrant eager(int host) {
    EagerGrant[] grants = {new EagerGrant(2, 48), new EagerGrant(64, 1024), new EagerGrant(8, 300)};
    return (seed >> host & 1) == 0
        ? EagerGrant.NONE
        : grants[new SplittableRandom(seed * 31 + host).nextInt(grants.length)];
  }

  private int sum(java.util.function.ToIntFunction<Communicator> what) {
    return communicators.stream().mapToInt(what).sum();
  }

  /** Some communicators: connect, send, close. */
  private void round(Arena arena, MemorySegment pattern, boolean first) {
    List<Communicator> these = new ArrayList<>();
    List<Listener> listeners = new ArrayList<>();
    for (Node node : nodes) {
      listeners.add(node.connections.connector().listen(null));
    }
    int count = 1 + random.nextInt(4);
    for (int i = 0; i < count; i++) {
      int from = random.nextInt(nodes.size());
      int to = (from + random.nextInt(nodes.size())) % nodes.size();
      int messages = first && i == 0 ? groups : 1 + random.nextInt(groups);
      Communicator made = communicator(i, from, to, Math.min(messages, groups), arena, pattern);
      if (made == null) {
        continue;
      }
      made.connect(() -> nodes.get(to).connections.connector().handle(listeners.get(to)));
      these.add(made);
    }
    communicators.addAll(these);
    await("connecting", () -> these.stream().allMatch(c -> c.isAnswered() || c.from.isDead()));
    for (int host = 0; host < nodes.size(); host++) {
      accept(these, listeners.get(host));
    }
    if (!reported) {
      these.forEach(c -> assertTrue(c.send != null && c.receive != null, c::describe));
    }
    int victim = random.nextInt(4) == 0 && !these.isEmpty() ? random.nextInt(these.size()) : -1;
    int after = random.nextInt(2 * groups);
    boolean abortSender = random.nextBoolean();
    boolean abortReceiver = random.nextBoolean();

    await(
        "exchanging",
        () -> {
          for (Communicator one : these) {
            // Pings are no progress: what counts is that requests get on.
            lastEvent = one.step() ? simulation.nanoTime() : lastEvent;
          }
          if (victim >= 0 && these.get(victim).successes >= after) {
            these.get(victim).close(abortSender, abortReceiver);
          }
          if (reported && random.nextInt(2000) == 0) {
            simulation
                .host(random.nextInt(nodes.size()))
                .nic(0)
                .stall(Duration.ofMillis(random.nextInt(longestStallMs)));
          }
          return these.stream().allMatch(Communicator::isOver);
        });
    for (int i = 0; i < these.size(); i++) {
      Communicator one = these.get(i);
      boolean undisturbed =
          !reported
              || (patient
                  && isUnscathed(simulation.host(nodes.indexOf(one.from)))
                  && isUnscathed(simulation.host(nodes.indexOf(one.to))));
      if (undisturbed && i != victim) {
        assertTrue(one.isWhole(), one::describe);
        assertNull(one.send == null ? null : one.send.failure(), line);
      }
      boolean abort = random.nextInt(4) == 0;
      one.close(abort, abort && random.nextBoolean());
    }
    for (int host = 0; host < nodes.size(); host++) {
      nodes.get(host).connections.connector().close(listeners.get(host));
    }
    await(
        "releasing",
        () -> {
          these.forEach(Communicator::step);
          return these.stream().allMatch(Communicator::isReleased) && idle();
        });
  }

  /** One more; null if its memory cannot be registered since a NIC died. */
  private @Nullable Communicator communicator(
      int number, int from, int to, int messages, Arena arena, MemorySegment pattern) {
    Script script = new Script(random, messages);
    if (!isUnscathed(simulation.host(from)) || !isUnscathed(simulation.host(to))) {
      return null;
    }
    return new Communicator(
        "%s, communicator %d from host %d to %d".formatted(line, number, from, to),
        nodes.get(from),
        nodes.get(to),
        script,
        arena,
        pattern);
  }

  /** Whether no live host has a connection, or something out if all can be reached. */
  private boolean idle() {
    return nodes.stream()
        .allMatch(
            node ->
                node.isDead()
                    || (node.connections.live() == 0 && (reported || node.host.isQuiet())));
  }

  private static void accept(List<Communicator> these, Listener listener) {
    for (ReceiveConnection connection = listener.accept();
        connection != null;
        connection = listener.accept()) {
      for (Communicator one : these) {
        if (one.attempt.request.id().attempt() == connection.id().attempt()) {
          one.receive = connection;
        }
      }
    }
  }

  private void await(String what, BooleanSupplier done) {
    lastEvent = simulation.nanoTime();
    for (int round = 0; !done.getAsBoolean(); round++) {
      int events = 0;
      for (Node node : nodes) {
        if (!node.isDead()) {
          events += node.connections.progress();
        }
      }
      if (events == 0) {
        simulation.idle();
      }
      if (round == ROUNDS || simulation.nanoTime() - lastEvent > PATIENCE_NS) {
        throw new AssertionError(
            "%s without end after %d rounds: %s%n%s"
                .formatted(
                    what,
                    round,
                    communicators.stream().map(Communicator::describe).toList(),
                    simulation.describe()));
      }
    }
  }

  private void finish() {
    if (!reported) {
      for (Node node : nodes) {
        assertEquals(0, node.connections.live(), line);
      }
      communicators.forEach(Communicator::verifyAndRelease);
      nodes.forEach(Node::close);
    } else {
      nodes.forEach(Node::abortEndpoint);
      communicators.forEach(Communicator::verifyAndRelease);
      nodes.forEach(node -> node.host.closeDevice());
    }
    assertEquals(List.of(), simulation.openObjects(), line);
    assertEquals(List.of(), simulation.violations(), line);
  }

  /** Whether nobody died or was struck in that run, besides what is survivable. */
  static boolean isUnscathed(SimulatedHost host) {
    return !host.isDead() && host.nics().stream().noneMatch(nic -> nic.isDead());
  }
}

package org.jofi.rdma.communicator;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jofi.rdma.communicator.SimulatedHosts.Pair;
import org.jofi.simulated.profile.Profile;
import org.jofi.transport.Await;
import org.jofi.transport.RailStatus;
import org.jofi.transport.TransportException;

/**
 * Does what events tell of, before anybody records, and again once {@link EventsTest} does so from
 * outside.
 */
final class LateEventsMain {
  /** Where the JVM logs which classes it loads. */
  static final String LOADED = "loaded";

  static final String READY = "ready";

  private static final int BYTES = 1 << 20;
  private static final int SILENT = 1;
  private static final Pattern JFR = Pattern.compile("jdk\\.jfr\\.\\S+");

  private LateEventsMain() {}

  /**
   * Exits with 0 unless something fails.
   *
   * @param arguments the folder with that log
   */
  public static void main(String[] arguments) throws IOException {
    act();
    System.out.println("before: " + loadedOfJfr(Path.of(arguments[0], LOADED)));
    System.out.println(READY);
    if (System.in.read() >= 0) {
      act();
    }
  }

  private static Set<String> loadedOfJfr(Path log) throws IOException {
    return JFR.matcher(Files.readString(log))
        .results()
        .map(MatchResult::group)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static void act() {
    try (SimulatedHosts hosts = new SimulatedHosts(Profile.TCP, 1, 3)) {
      Pair pair = hosts.connect();
      transfer(hosts, pair);
      hosts.simulation.host(0).nic(SILENT).stall(Duration.ofSeconds(20));
      transfer(hosts, pair);
      hosts.await("its loss", () -> pair.send().rails().get(SILENT).state() != RailStatus.State.UP);
      waitInVain(hosts, pair);
      fail(hosts, pair);
    }
  }

  private static void transfer(SimulatedHosts hosts, Pair pair) {
    MemorySegment to = hosts.memory(BYTES, 100);
    MemorySegment from = hosts.memory(BYTES, 3);
    long receive = pair.receive().irecv(to, 0, BYTES, 1);
    long send = pair.send().isend(from, 0, BYTES, 1);
    hosts.await(pair.receive(), receive);
    hosts.await(pair.send(), send);
  }

  /** For longer than the threshold, and the receive is slow then. */
  private static void waitInVain(SimulatedHosts hosts, Pair pair) {
    MemorySegment memory = hosts.memory(16, 0);
    long receive = pair.receive().irecv(memory, 0, 8, 2);
    try {
      new Await().request(pair.receive(), receive, Duration.ofSeconds(2));
      throw new IllegalStateException("a message that nobody sent");
    } catch (TransportException late) {
      hosts.await(pair.send(), pair.send().isend(memory, 8, 8, 2));
      hosts.await(pair.receive(), receive);
    }
  }

  private static void fail(SimulatedHosts hosts, Pair pair) {
    long send = pair.send().isend(hosts.memory(BYTES, 5), 0, BYTES, 3);
    pair.receive().abort();
    if (hosts.await(pair.send(), send) >= 0) {
      throw new IllegalStateException("a send to nobody succeeded");
    }
    pair.send().close();
  }
}

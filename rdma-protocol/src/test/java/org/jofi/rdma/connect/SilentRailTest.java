package org.jofi.rdma.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jofi.simulated.Simulation;
import org.jofi.simulated.profile.Profile;
import org.jofi.transport.RailStatus;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Rails on which something is out and nothing comes back. */
class SilentRailTest {
  private static final int SILENT = 1;
  private static final int BYTES = 3 << 20;
  private static final int MESSAGES = 4;
  private static final long SECOND = 1_000_000_000;
  private static final long NEVER = 600 * SECOND;

  static Stream<Arguments> profiles() {
    return of(Profile.ALL.stream());
  }

  private static Stream<Arguments> of(Stream<Profile> profiles) {
    return profiles.flatMap(
        profile -> Stream.of(2, 3, 4).map(rails -> Arguments.of(profile, rails)));
  }

  /** Others tell of each stripe by a message, over control rails, of which one is silent too. */
  static Stream<Arguments> profilesThatWriteData() {
    return of(Profile.ALL.stream().filter(profile -> profile.behaviour().writeData()));
  }

  /** A connection for long messages. */
  private static final class LongMessages implements AutoCloseable {
    final Simulation simulation;
    final int rails;
    final Arena arena = Arena.ofShared();
    final Linked linked;

    LongMessages(Profile profile, int rails) {
      this.rails = rails;
      simulation = Simulation.of(profile).nicsPerHost(rails).open();
      linked =
          new Linked(
              simulation,
              arena,
              new Node(simulation, profile, 0, rails, NEVER, NEVER),
              new Node(simulation, profile, 1, rails, NEVER, NEVER),
              BYTES);
    }

    long receive() {
      return linked.receive(BYTES);
    }

    long send() {
      return linked.queue(BYTES);
    }

    void exchange(int messages) {
      List<Long> receives = new ArrayList<>();
      List<Long> sends = new ArrayList<>();
      for (int i = 0; i < messages; i++) {
        receives.add(receive());
        sends.add(send());
      }
      for (int i = 0; i < messages; i++) {
        arrives(sends.get(i), receives.get(i));
      }
    }

    void arrives(long send, long receive) {
      assertEquals(BYTES, linked.outcome(linked.sending, send, linked.left, linked.right)[0]);
      assertEquals(BYTES, linked.outcome(linked.receiving, receive, linked.left, linked.right)[0]);
    }

    List<Integer> silent() {
      return IntStream.range(0, rails)
          .filter(rail -> status(rail).silence().isPresent())
          .boxed()
          .toList();
    }

    RailStatus status(int rail) {
      return linked.sending.sink().rail(rail);
    }

    @Override
    public void close() {
      linked.finish(linked.from, linked.to);
      simulation.close();
      arena.close();
    }
  }

  /** It is found, given nothing more, and used again when it answers; nothing is lost. */
  @ParameterizedTest
  @MethodSource("profilesThatWriteData")
  void aRailThatIsSilentIsGivenNothingMore(Profile profile, int rails) {
    try (LongMessages pair = new LongMessages(profile, rails)) {
      pair.exchange(MESSAGES);
      List<Long> receives = new ArrayList<>();
      for (int i = 0; i <= MESSAGES; i++) {
        receives.add(pair.receive());
      }
      pair.linked.pass(SECOND / 10, pair.linked.left, pair.linked.right);
      pair.simulation.host(0).nic(SILENT).stall(Duration.ofSeconds(8));
      long end = pair.simulation.nanoTime() + 8 * SECOND;
      long held = pair.send();
      pair.linked.pass(5 * SECOND, pair.linked.left, pair.linked.right);
      assertEquals(List.of(SILENT), pair.silent());
      String why = pair.status(SILENT).silence().orElseThrow().toString();
      assertTrue(why.contains("data rail " + SILENT) && why.contains("silent for"), why);
      long out = pair.status(SILENT).written().bytesOut();
      assertTrue(out > 0, "it has a part of the message");
      List<Long> sends = Stream.generate(pair::send).limit(MESSAGES).toList();
      for (int i = 0; i < MESSAGES; i++) {
        pair.arrives(sends.get(i), receives.get(i + 1));
      }
      assertTrue(pair.simulation.nanoTime() < end, "others wait for nothing");
      assertEquals(out, pair.status(SILENT).written().bytesOut());
      pair.arrives(held, receives.getFirst());
      assertEquals(List.of(), pair.silent());
      pair.exchange(MESSAGES);
    }
  }

  /** Nothing is heard of it over any rail, so it is not its rails. */
  @ParameterizedTest
  @MethodSource("profiles")
  void aPeerThatIsStoppedHasNoSilentRails(Profile profile, int rails) {
    try (LongMessages pair = new LongMessages(profile, rails)) {
      pair.exchange(MESSAGES);
      long receive = pair.receive();
      pair.linked.pass(SECOND / 10, pair.linked.left, pair.linked.right);
      for (int nic = 0; nic < rails; nic++) {
        pair.simulation.host(1).nic(nic).stall(Duration.ofSeconds(30));
      }
      long send = pair.send();
      for (int i = 0; i < 400; i++) {
        pair.linked.pass(SECOND / 10, pair.linked.left, pair.linked.right);
        assertEquals(List.of(), pair.silent());
      }
      pair.arrives(send, receive);
    }
  }
}

package org.jofi.collectives;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jofi.ranks.RankLostException;
import org.jofi.ranks.Ranks;
import org.jofi.ranks.RanksException;
import org.jofi.simulated.SimulatedProvider;
import org.jofi.transport.Device;
import org.jofi.transport.FailureCause;
import org.jofi.transport.TransportException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Groups over two devices, one within a host and one between hosts. */
class LevelsTest {
  private static final String NETWORK = "simulated-efa";

  /** An empty name is a host that is not known. */
  @ParameterizedTest
  @ValueSource(strings = {"a b a", "a b c", "a a a", "a - - b a a"})
  void ranksOfAHostAreConnectedOverItsDevice(String words) {
    List<String> hosts =
        List.of(words.split(" ")).stream().map(name -> name.equals("-") ? "" : name).toList();
    Groups.overTwoLevels(
        hosts,
        Groups.OPTIONS,
        group -> {
          String mine = hosts.get(group.rank());
          for (int other = 0; other < group.size(); other++) {
            if (other != group.rank()) {
              boolean share = !mine.isEmpty() && mine.equals(hosts.get(other));
              assertEquals(share, group.hosts().share(group.rank(), other));
              assertEquals(share ? Groups.WITHIN_HOST : NETWORK, provider(group.device(other)));
            }
          }
          assertEquals(NETWORK, provider(group.device()));
          // Each with each.
          MemorySegment in = Arena.ofAuto().allocate(4L * group.size(), 4);
          MemorySegment out = Arena.ofAuto().allocate(4L * group.size(), 4);
          in.fill((byte) group.rank());
          group.run(Collective.allToAll(DataType.I32, 1), in, out);
          for (int other = 0; other < group.size(); other++) {
            assertEquals(0x01010101 * other, out.getAtIndex(ValueLayout.JAVA_INT, other));
          }
          float[] sum = {group.rank() + 1};
          group.allReduce(sum, Reduction.SUM);
          int size = group.size();
          assertArrayEquals(new float[] {size * (size + 1) / 2f}, sum);
        });
  }

  private static String provider(Device of) {
    return of.properties().provider();
  }

  @Test
  void partsOfTheGroupKnowTheirHosts() {
    Groups.overTwoLevels(
        List.of("a", "a", "b", "b", "c"),
        Groups.OPTIONS,
        group -> {
          // Ranks 4, 2 and 0 in this order; 3 and 1.
          try (Group part = group.split(group.rank() % 2, -group.rank()).orElseThrow()) {
            assertEquals(part.size(), part.hosts().count());
            int[] sum = {group.rank()};
            part.allReduce(sum, Reduction.SUM);
            assertEquals(group.rank() % 2 == 0 ? 6 : 4, sum[0]);
          }
          try (Group part = group.split(group.rank() < 2 ? 0 : 1, -group.rank()).orElseThrow()) {
            assertEquals(group.rank() < 2 ? List.of(1, 0) : List.of(4, 3, 2), part.members());
            int[] sum = {group.rank()};
            part.allReduce(sum, Reduction.SUM);
            assertEquals(group.rank() < 2 ? 1 : 9, sum[0]);
            if (group.rank() == 3) {
              assertEquals(NETWORK, provider(part.device(0)));
              assertEquals(Groups.WITHIN_HOST, provider(part.device(2)));
            }
          }
        });
  }

  /** One that shares a host with another rank, and one that is alone on its host. */
  @ParameterizedTest
  @ValueSource(ints = {1, 4})
  void theOthersGoOnWithoutOneThatFailed(int lost) {
    AtomicInteger wentOn = new AtomicInteger();
    Groups.overTwoLevels(
        new SimulatedProvider(),
        new SimulatedProvider(),
        List.of("a", "a", "b", "b", "c"),
        (ranks, levels) -> {
          Group group = Group.connect(ranks, levels, Groups.OPTIONS);
          float[] array = new float[9000];
          if (ranks.rank() == lost) {
            group.allReduce(array, Reduction.SUM);
            ranks.fail("on purpose");
            group.abort();
            return;
          }
          RankLostException told =
              assertThrows(
                  RankLostException.class,
                  () -> {
                    while (true) {
                      group.allReduce(array, Reduction.SUM);
                    }
                  });
          assertEquals(lost, told.rank());
          try (Group.Shrunk left = group.shrink(Duration.ofSeconds(20))) {
            assertEquals(lost == 1 ? 3 : 2, left.group().hosts().count());
            int[] sum = {1};
            left.group().allReduce(sum, Reduction.SUM);
            assertEquals(4, sum[0]);
            wentOn.incrementAndGet();
          }
        });
    assertEquals(4, wentOn.get());
  }

  @Test
  void aRankWithOneDeviceIsRefusedByName() {
    bothAreRefused(
        (ranks, levels) ->
            ranks.rank() == 0
                ? Group.connect(ranks, levels, Groups.OPTIONS)
                : Group.connect(ranks, levels.network(), Groups.OPTIONS),
        "two, of which simulated-tcp is for its host",
        "one device");
  }

  @Test
  void ranksOfAHostWithUnlikeDevicesForItAreRefusedByName() {
    bothAreRefused(
        (ranks, levels) ->
            Group.connect(
                ranks,
                ranks.rank() == 0
                    ? levels
                    : new Levels(levels.network(), levels.network(), levels.host()),
                Groups.OPTIONS),
        "uses the provider simulated-tcp",
        "simulated-efa");
  }

  private interface Connecting {
    Group connect(Ranks ranks, Levels levels);
  }

  private static void bothAreRefused(Connecting how, String one, String other) {
    Groups.overTwoLevels(
        new SimulatedProvider(),
        new SimulatedProvider(),
        List.of("a", "a"),
        (ranks, levels) -> {
          MismatchException refused =
              assertThrows(MismatchException.class, () -> how.connect(ranks, levels));
          String words = String.valueOf(refused.getMessage());
          assertTrue(words.contains(ranks.rank() == 0 ? one : other), words);
          assertTrue(words.contains("rank 0") && words.contains("rank 1"), words);
        });
  }

  /** What another release tells, and what none does. */
  @Test
  void anotherReleaseIsRefusedByName() {
    Groups.overTwoLevels(
        new SimulatedProvider(),
        new SimulatedProvider(),
        List.of("a", "a"),
        (ranks, levels) -> {
          if (ranks.rank() == 1) {
            for (int version = 2; version > 0; version--) {
              ByteBuffer told = ByteBuffer.allocate(20);
              told.putLong(0).putInt(Groups.OPTIONS.chunkBytes()).put((byte) version);
              // A text that is longer than what follows.
              told.putShort((short) 300);
              ranks.gather(told.array(), Duration.ofSeconds(20));
            }
            ranks.gather(new byte[5], Duration.ofSeconds(20));
            return;
          }
          MismatchException refused =
              assertThrows(
                  MismatchException.class, () -> Group.connect(ranks, levels, Groups.OPTIONS));
          assertEquals(
              "rank 0 speaks version 1 of groups over two levels, rank 1 version 2: run one release on all ranks",
              refused.getMessage());
          for (int bytes : new int[] {20, 5}) {
            RanksException strange =
                assertThrows(
                    RanksException.class, () -> Group.connect(ranks, levels, Groups.OPTIONS));
            assertTrue(
                strange.getMessage().startsWith("rank 1 told what is no greeting")
                    && strange.getMessage().contains(bytes + " bytes"),
                strange::getMessage);
          }
        });
  }

  /** Hosts of one name whose devices do not reach each other, as of machines that are copies. */
  @Test
  void aHostThatIsNoneFailsWithWordsThatSaySo() {
    Groups.overTwoLevels(
        new SimulatedProvider(),
        new SimulatedProvider(),
        List.of("a", "a"),
        (ranks, levels) -> {
          Levels wrong =
              new Levels(levels.network(), new Unreachable(levels.withinHost()), levels.host());
          try (Group group = Group.connect(ranks, wrong, Groups.OPTIONS)) {
            TransportException failed = assertThrows(TransportException.class, group::barrier);
            assertEquals(FailureCause.UNAVAILABLE, failed.failure().cause());
            String words = String.valueOf(failed.getMessage());
            assertTrue(
                words.contains("rank %d in barrier".formatted(ranks.rank()))
                    && words.contains(
                        "rank %d is on the same host, over simulated-tcp: no such file"
                            .formatted(1 - ranks.rank()))
                    && words.contains("name other hosts, or use one device"),
                words);
            assertFalse(group.isUsable());
          }
        });
  }
}

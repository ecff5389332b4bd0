package org.jofi.rdma.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assumptions.abort;

import java.lang.foreign.MemorySegment;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;
import org.jofi.fabric.FabricHints;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.FabricProvider;
import org.jofi.fabric.FabricUnavailableException;
import org.jofi.mr.DataRegistration;
import org.jofi.rdma.ProtocolRequirements;
import org.jofi.rdma.endpoint.Host;
import org.jofi.transport.Result;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The same over the providers of libfabric that run on any machine, within one process, over a NIC
 * once and taken twice.
 */
@Tag("libfabric")
class OneSidedOverLibfabricTest {
  private static final int BYTES = 64 * 1024;

  static Stream<Arguments> nics() {
    // The socket provider for connectionless endpoints is called net in 1.x, tcp in 2.x.
    return Stream.of("net", "tcp", "tcp;ofi_rxm", "shm")
        .flatMap(provider -> Stream.of(1, 2).map(rails -> Arguments.of(provider, rails)));
  }

  private static Pair pair(String name, int rails) {
    FabricProvider provider = FabricProvider.named("libfabric");
    List<FabricInfo> infos = List.of();
    try {
      infos =
          provider.discover(FabricHints.any().withProvider(name).withHmem(false)).stream()
              .filter(info -> info.provider().equals(name))
              .filter(info -> ProtocolRequirements.lacks(info).isEmpty())
              .toList();
    } catch (FabricUnavailableException e) {
      skip("no libfabric here: " + e.getMessage());
    }
    if (infos.isEmpty()) {
      skip("%s has no provider %s".formatted(provider.version(), name));
    }
    List<FabricInfo> known = infos;
    FabricInfo nic =
        known.stream()
            .filter(info -> info.address().startsWith("127."))
            .findFirst()
            .orElseGet(known::getFirst);
    List<FabricInfo> nics = Collections.nCopies(rails, nic);
    Host[] hosts = new Host[2];
    for (int i = 0; i < hosts.length; i++) {
      hosts[i] = new Host(provider, nics, i, rails, System::nanoTime, Thread::onSpinWait);
    }
    return new Pair(
        new Node(hosts[0], true, 1, System::nanoTime, Node.REQUEST_NS, Node.SILENCE_NS),
        new Node(hosts[1], true, 2, System::nanoTime, Node.REQUEST_NS, Node.SILENCE_NS),
        System::nanoTime,
        Thread::yield,
        "%s, %d rail(s)".formatted(nic, rails),
        Long.MAX_VALUE);
  }

  private static void skip(String why) {
    System.out.println("[skipped] " + why);
    abort(why);
  }

  @ParameterizedTest
  @MethodSource("nics")
  void everyByteIsWhereItBelongsWhenARequestIsOver(String provider, int rails) {
    try (Pair pair = pair(provider, rails)) {
      for (long seed = 1; seed <= 5; seed++) {
        new OneSidedTraffic(pair, seed, 40).run();
      }
      pair.closeSides();
    }
  }

  @ParameterizedTest
  @MethodSource("nics")
  void longOnesAreStripedAndFlushed(String provider, int rails) {
    try (Pair pair = pair(provider, rails)) {
      DataRegistration source = pair.memory(pair.sends, BYTES);
      DataRegistration target = pair.memory(pair.receives, BYTES);
      MemorySegment sent = Pair.segment(source);
      for (int number = 0; number < 10; number++) {
        Pair.fill(sent, number);
        long write =
            pair.sends.write(source.range().address(), BYTES, source, Pair.remote(target), 0);
        assertEquals(BYTES, pair.outcome(pair.sends, write));
        assertEquals(-1, sent.mismatch(Pair.segment(target)), "written");
        long flush = pair.receives.flush(target.range().address(), BYTES, target);
        assertEquals(BYTES, pair.outcome(pair.receives, flush), pair::toString);
        sent.fill((byte) 0);
        long read =
            pair.sends.read(source.range().address(), BYTES, source, Pair.remote(target), 0);
        assertEquals(BYTES, pair.outcome(pair.sends, read));
        assertEquals(-1, sent.mismatch(Pair.segment(target)), "read");
      }
      assertNull(pair.sends.failure());
      assertEquals(Result.NOTHING_TO_DO, pair.receives.flush(0, 0, target));
      pair.closeSides();
    }
  }
}

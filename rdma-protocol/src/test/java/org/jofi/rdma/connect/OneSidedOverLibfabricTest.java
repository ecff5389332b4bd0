package org.jofi.rdma.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.lang.foreign.MemorySegment;
import java.util.stream.Stream;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.engine.Posting;
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
    Node[] nodes = RealNics.nodes(name, rails);
    return new Pair(
        nodes[0],
        nodes[1],
        System::nanoTime,
        Thread::yield,
        "%s, %d rail(s)".formatted(name, rails),
        Long.MAX_VALUE);
  }

  @ParameterizedTest
  @MethodSource("nics")
  void everyByteIsWhereItBelongsWhenARequestIsOver(String provider, int rails) {
    try (Pair pair = pair(provider, rails)) {
      for (long seed = 1; seed <= 5; seed++) {
        new OneSidedTraffic(pair, seed, 40).run();
      }
      pair.closeConnections();
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
            Posting.write(
                pair.sends, source.range().address(), BYTES, source, Pair.remote(target), 0);
        assertEquals(BYTES, pair.outcome(pair.sends, write));
        assertEquals(-1, sent.mismatch(Pair.segment(target)), "written");
        long flush = pair.receives.flushes.flush(target.range().address(), BYTES, target);
        assertEquals(BYTES, pair.outcome(pair.receives, flush), pair::toString);
        sent.fill((byte) 0);
        long read =
            Posting.read(
                pair.sends, source.range().address(), BYTES, source, Pair.remote(target), 0);
        assertEquals(BYTES, pair.outcome(pair.sends, read));
        assertEquals(-1, sent.mismatch(Pair.segment(target)), "read");
      }
      assertNull(pair.sends.failure());
      assertEquals(Result.NOTHING_TO_DO, pair.receives.flushes.flush(0, 0, target));
      pair.closeConnections();
    }
  }
}

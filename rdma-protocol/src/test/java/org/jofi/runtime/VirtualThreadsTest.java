package org.jofi.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.jofi.fabric.FabricProvider;
import org.jofi.transport.Await;
import org.jofi.transport.ConnectAttempt;
import org.jofi.transport.ConnectHandle;
import org.jofi.transport.Device;
import org.jofi.transport.IdleStrategy;
import org.jofi.transport.ListenComm;
import org.jofi.transport.ProgressThreads;
import org.jofi.transport.RecvComm;
import org.jofi.transport.Result;
import org.jofi.transport.SendComm;
import org.jofi.transport.Transport;
import org.jofi.transport.TransportOptions;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A ring of virtual threads, many more than there are processors, which share a device. Whoever
 * gives up the processor while it holds an endpoint's lock is kept from going on by the others, and
 * then by its own peers: they count it as lost. The lock is jofi's, so that one libfabric tells.
 */
@Timeout(value = 240, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class VirtualThreadsTest {
  private static final int RANKS = 64;
  private static final int ROUNDS = 10;
  private static final int BYTES = 9_000;
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  enum Wait {
    YIELDS,
    PARKS;

    IdleStrategy idle() {
      return this == YIELDS ? IdleStrategy.yielding() : new BackoffIdleStrategy()::idle;
    }
  }

  @ParameterizedTest
  @CsvSource({"YIELDS, NEVER", "YIELDS, ALWAYS", "PARKS, NEVER", "PARKS, ALWAYS"})
  void aRingOfThemGoesOn(Wait wait, ProgressThreads threads) throws Exception {
    TransportOptions options =
        TransportOptions.builder().provider("shm").progressThreads(threads).build();
    List<CompletableFuture<ConnectHandle>> handles = new ArrayList<>();
    for (int rank = 0; rank < RANKS; rank++) {
      handles.add(new CompletableFuture<>());
    }
    try (Transport transport = Transport.open(FabricProvider.named("libfabric"), options);
        ExecutorService ranks = Executors.newVirtualThreadPerTaskExecutor()) {
      Device device = transport.devices().getFirst();
      List<Future<?>> all = new ArrayList<>();
      for (int rank = 0; rank < RANKS; rank++) {
        int own = rank;
        all.add(ranks.submit(() -> run(device, own, handles, new Await(wait.idle()))));
      }
      for (Future<?> one : all) {
        one.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
      }
    }
  }

  /** What a rank does; its communicators are closed with the transport. */
  private static Void run(
      Device device, int rank, List<CompletableFuture<ConnectHandle>> handles, Await await)
      throws Exception {
    CompletableFuture<ConnectHandle> there = handles.get((rank + 1) % RANKS);
    try (ListenComm listener = device.listen();
        Arena arena = Arena.ofShared()) {
      handles.get(rank).complete(listener.handle());
      ConnectAttempt attempt = device.connect(there.get(PATIENCE.toSeconds(), TimeUnit.SECONDS));
      RecvComm previous = await.accepted(listener, PATIENCE);
      SendComm next = await.connection(attempt, PATIENCE);
      MemorySegment out = arena.allocate(BYTES, 64);
      MemorySegment in = arena.allocate(BYTES, 64);
      for (int round = 0; round < ROUNDS; round++) {
        out.fill(content(rank, round));
        long receive = posted(() -> previous.irecv(in, 1));
        long send = posted(() -> next.isend(out, 1));
        assertEquals(BYTES, await.request(previous, receive, PATIENCE));
        assertEquals(BYTES, await.request(next, send, PATIENCE));
        byte expected = content(Math.floorMod(rank - 1, RANKS), round);
        for (long at = 0; at < BYTES; at++) {
          assertEquals(expected, in.get(ValueLayout.JAVA_BYTE, at));
        }
      }
      return null;
    }
  }

  private static long posted(LongSupplier post) {
    long request = post.getAsLong();
    while (request == Result.TRY_AGAIN) {
      Thread.yield();
      request = post.getAsLong();
    }
    return request;
  }

  private static byte content(int rank, int round) {
    return (byte) (rank * 31 + round);
  }
}

package org.jofi.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.jofi.rdma.RdmaTransport;
import org.jofi.simulated.Profile;
import org.jofi.simulated.SimulatedProvider;
import org.jofi.transport.Await;
import org.jofi.transport.ConnectAttempt;
import org.jofi.transport.Device;
import org.jofi.transport.ListenComm;
import org.jofi.transport.ProgressThreads;
import org.jofi.transport.RecvComm;
import org.jofi.transport.Registration;
import org.jofi.transport.SendComm;
import org.jofi.transport.TransportOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Endpoints with threads of their own, over a simulated fabric in real time. */
@Timeout(60)
class ThreadedEndpointsTest {
  private static final int BYTES = 300_000;
  private static final Duration BOUND = Duration.ofSeconds(30);

  private final Await await = new Await(new BackoffIdleStrategy());

  private static RdmaTransport open(SimulatedProvider network) {
    return RdmaTransport.open(
        network,
        TransportOptions.builder()
            .provider(Profile.TCP.providerName())
            .progressThreads(ProgressThreads.ALWAYS)
            .build(),
        Machine.environment());
  }

  private static void until(String what, BooleanSupplier condition) {
    long end = System.nanoTime() + BOUND.toNanos();
    while (!condition.getAsBoolean()) {
      assertTrue(System.nanoTime() - end < 0, what);
      Thread.onSpinWait();
    }
  }

  private static List<String> threads(Device device) {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .filter(name -> name.startsWith("jofi " + device.properties().name()))
        .sorted()
        .toList();
  }

  @Test
  void messagesMoveWhileNobodyCalls() {
    Device device;
    try (Arena arena = Arena.ofShared();
        RdmaTransport transport = open(new SimulatedProvider())) {
      device = transport.devices().getFirst();
      assertTrue(
          device.properties().groupingReasons().stream()
              .anyMatch(why -> why.contains("progress thread")),
          () -> device.properties().groupingReasons().toString());
      SendComm send;
      RecvComm receive;
      try (ListenComm listener = device.listen();
          ConnectAttempt attempt = device.connect(listener.handle())) {
        SendComm[] sends = new SendComm[1];
        RecvComm[] receives = new RecvComm[1];
        until(
            "a connection",
            () -> {
              sends[0] = attempt.poll();
              receives[0] = receives[0] == null ? listener.accept() : receives[0];
              return sends[0] != null && receives[0] != null;
            });
        send = sends[0];
        receive = receives[0];
      }
      assertEquals(2, threads(device).size(), () -> threads(device).toString());
      MemorySegment from = arena.allocate(BYTES).fill((byte) 7);
      MemorySegment to = arena.allocate(BYTES);
      Registration source = send.regMr(from);
      Registration target = receive.regMr(to);
      long received = receive.irecv(to.address(), BYTES, 1, target);
      long[] sent = new long[1];
      until(
          "the receive's entry",
          () -> (sent[0] = send.isend(from.address(), BYTES, 1, source)) > 0);
      until("the last byte", () -> to.get(ValueLayout.JAVA_BYTE, BYTES - 1) == 7);
      assertEquals(BYTES, await.request(receive, received, BOUND));
      assertEquals(BYTES, await.request(send, sent[0], BOUND));
      assertEquals(-1, from.mismatch(to));
    }
    assertEquals(List.of(), threads(device));
  }
}

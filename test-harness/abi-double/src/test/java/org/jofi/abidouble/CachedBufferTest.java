package org.jofi.abidouble;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.FabricProvider;
import org.jofi.rdma.RdmaTransport;
import org.jofi.runtime.Machine;
import org.jofi.transport.Await;
import org.jofi.transport.ConnectAttempt;
import org.jofi.transport.Device;
import org.jofi.transport.Grouping;
import org.jofi.transport.IdleStrategy;
import org.jofi.transport.ListenComm;
import org.jofi.transport.RecvComm;
import org.jofi.transport.Registration;
import org.jofi.transport.Result;
import org.jofi.transport.SendComm;
import org.jofi.transport.TransportOptions;
import org.jofi.transport.Tuning;
import org.jofi.transport.Use;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The life of a buffer that is kept registered in endpoint scope, call by call: registered once,
 * bound to and enabled on the endpoint of each rail, used again without a call, and closed before
 * the endpoints.
 */
@Timeout(120)
class CachedBufferTest {
  private static final Path ROOT = Path.of("").toAbsolutePath().getParent().getParent();
  private static final Duration BOUND = Duration.ofSeconds(30);
  private static final int BYTES = 65_536;
  private static final int MESSAGES = 1_000;

  /** The calls for one buffer, in words that are the same in each run. */
  private final List<String> life = new ArrayList<>();

  @ParameterizedTest
  @CsvSource({"1, false", "4, false", "8, false", "4, true"})
  void isRegisteredOnceAndHitAThousandTimes(int rails, boolean clientKeys) throws IOException {
    AbiDouble library =
        new AbiDouble(clientKeys ? DoubleSettings.cxiWithClientKeys() : DoubleSettings.cxi());
    FabricProvider provider = library.provider();
    FabricInfo nic = Stand.loopback(provider);
    TransportOptions options =
        TransportOptions.builder()
            .provider(nic.provider())
            .grouping(new Grouping.Explicit(List.of(Collections.nCopies(rails, nic.domainName()))))
            .tuning(Tuning.DEFAULT.withEagerBytes(0))
            .build();
    try (Arena arena = Arena.ofShared()) {
      MemorySegment array = arena.allocate(BYTES, 4096);
      String where = "%d bytes at 0x%x ".formatted(BYTES, array.address());
      try (RdmaTransport transport = RdmaTransport.open(provider, options, Machine.environment())) {
        use(library, transport.devices().getFirst(), array, arena.allocate(BYTES, 4096), rails);
      }
      tell(library.trace(), where, rails);
    }
    library.requireClean();
    String told = String.join("\n", life);
    System.out.printf("%d rail(s)%s:%n%s%n", rails, clientKeys ? ", client keys" : "", told);
    if (rails == 4 && !clientKeys) {
      String page = Files.readString(ROOT.resolve("docs/REGISTRATION.md"));
      assertTrue(page.contains("```\n" + told + "\n```"), "docs/REGISTRATION.md has other calls");
    }
  }

  private void use(
      AbiDouble library, Device device, MemorySegment array, MemorySegment target, int rails) {
    Await await = new Await(IdleStrategy.yielding());
    try (ListenComm listener = device.listen();
        ConnectAttempt attempt = device.connect(listener.handle());
        SendComm send = await.connection(attempt, BOUND);
        RecvComm receive = await.accepted(listener, BOUND)) {
      library.startTrace();
      message(await, send, receive, array, target);
      Map<String, Long> before = registering(library);
      for (int i = 1; i < MESSAGES; i++) {
        message(await, send, receive, array, target);
      }
      // Explicit registrations are hits as well.
      try (Registration held = send.register(array, Use.SEND)) {
        assertTrue(held.isOpen());
      }
      assertEquals(before, registering(library), "a hit called the provider");
      assertEquals(2, device.cacheStatistics().misses());
      assertEquals(2 * (MESSAGES - 1) + 1, device.cacheStatistics().hits());
      assertEquals(2L * rails, count(library, "fi_mr_enable: 0"));
    }
  }

  private static void message(
      Await await, SendComm send, RecvComm receive, MemorySegment from, MemorySegment to) {
    long received = receive.irecv(to, 1);
    long sent = send.isend(from, 1);
    await.request(receive, received, BOUND);
    assertEquals(BYTES, await.request(send, sent, BOUND));
    assertTrue(Result.isOver(receive.test(received)));
  }

  private static Map<String, Long> registering(AbiDouble library) {
    Map<String, Long> calls = new TreeMap<>(library.calls());
    calls.keySet().retainAll(List.of("fi_mr_regattr", "fi_mr_bind", "fi_mr_enable", "fi_close"));
    return calls;
  }

  private static long count(AbiDouble library, String event) {
    return library.trace().stream().filter(entry -> entry.event().equals(event)).count();
  }

  /** Tells what happened to the array's regions, and to the endpoints that they are bound to. */
  private void tell(List<TraceEntry> trace, String where, int rails) {
    Map<String, Integer> railOf = new HashMap<>();
    Map<String, Integer> railOfEndpoint = new HashMap<>();
    int closed = 0;
    for (TraceEntry entry : trace) {
      String event = entry.event();
      if (event.startsWith("fi_mr_regattr") && event.contains(where)) {
        int rail = railOf.size();
        railOf.put(entry.object(), rail);
        life.add("rail %d: fi_mr_regattr(%d bytes for WRITE)".formatted(rail, BYTES));
        assertTrue(event.contains("for WRITE, key"), event);
      }
      Integer rail = railOf.get(entry.object());
      Integer endpointRail = railOfEndpoint.get(entry.object());
      if (rail != null && event.startsWith("bound to ")) {
        railOfEndpoint.put(event.substring("bound to ".length()), rail);
        life.add("rail %d: fi_mr_bind(the endpoint of data rail %d)".formatted(rail, rail));
      } else if (rail != null && event.equals("fi_mr_enable: 0")) {
        life.add("rail %d: fi_mr_enable".formatted(rail));
        if (rail == rails - 1) {
          life.add("%d messages: no further call".formatted(MESSAGES));
        }
      } else if (rail != null && event.equals("fi_close: 0")) {
        life.add("rail %d: fi_close(the region)".formatted(rail));
      } else if (endpointRail != null && event.equals("fi_close: 0")) {
        closed++;
        life.add("rail %d: fi_close(the endpoint)".formatted(endpointRail));
      }
    }
    assertEquals(rails, railOf.size(), "regions");
    assertEquals(rails, railOfEndpoint.size(), "endpoints");
    assertEquals(rails, closed, "endpoints that were closed");
    assertEquals(5 * rails + 1, life.size(), life::toString);
  }
}

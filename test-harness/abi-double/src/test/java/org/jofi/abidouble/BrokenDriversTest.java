package org.jofi.abidouble;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jofi.abidouble.BrokenProvider.Mistake;
import org.jofi.fabric.Access;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricInfo;
import org.jofi.rdma.RdmaTransport;
import org.jofi.runtime.Machine;
import org.jofi.transport.Await;
import org.jofi.transport.ConnectAttempt;
import org.jofi.transport.Device;
import org.jofi.transport.FlushPolicy;
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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** What the double finds below a protocol that goes wrong, and between processes. */
@Timeout(60)
class BrokenDriversTest {
  private static final Duration BOUND = Duration.ofSeconds(10);

  @TempDir private Path folder;

  static Stream<Arguments> mistakes() {
    return Stream.of(
        Arguments.of(Mistake.ONE_ENDPOINT_FOR_ALL, DoubleSettings.cxi(), Rule.REMOTE_KEY),
        Arguments.of(
            Mistake.ONE_ENDPOINT_FOR_ALL,
            DoubleSettings.cxi().withLocalDescriptors(),
            Rule.OTHER_ENDPOINTS_REGION),
        Arguments.of(Mistake.ONE_KEY_FOR_ALL, DoubleSettings.cxiWithClientKeys(), Rule.KEY_IN_USE),
        Arguments.of(Mistake.NO_REMOTE_READ, DoubleSettings.cxi(), Rule.REMOTE_ACCESS),
        Arguments.of(
            Mistake.WRITE_FOR_READ,
            DoubleSettings.cxi().withLocalDescriptors(),
            Rule.LOCAL_ACCESS));
  }

  /** The protocol comes to a stop, and the double says why. */
  @ParameterizedTest
  @MethodSource("mistakes")
  void theProtocolOverABrokenProvider(Mistake mistake, DoubleSettings settings, Rule broken) {
    AbiDouble library = new AbiDouble(settings);
    BrokenProvider provider = new BrokenProvider(library.provider(), mistake);
    FabricInfo nic = Stand.loopback(provider);
    TransportOptions options =
        TransportOptions.builder()
            .provider(nic.provider())
            .grouping(new Grouping.Explicit(List.of(List.of(nic.domainName(), nic.domainName()))))
            .flushPolicy(FlushPolicy.ALWAYS)
            // The message has to be written into registered memory.
            .tuning(Tuning.DEFAULT.withEagerBytes(0))
            .connectTimeout(Duration.ofSeconds(5))
            .requestTimeout(Duration.ofSeconds(5))
            .build();
    assertThrows(
        RuntimeException.class,
        () -> {
          try (RdmaTransport transport =
              RdmaTransport.open(provider, options, Machine.environment())) {
            exchange(transport.devices().getFirst());
          }
        });
    Set<Rule> rules = EnumSet.noneOf(Rule.class);
    library.violations().forEach(violation -> rules.add(violation.rule()));
    assertEquals(Set.of(broken), rules, () -> library.violations().toString());
  }

  /** A connection to this very process, a message over it, and a flush. */
  private static void exchange(Device device) {
    Await await = new Await(IdleStrategy.yielding());
    try (Arena arena = Arena.ofShared();
        ListenComm listener = device.listen();
        ConnectAttempt attempt = device.connect(listener.handle());
        SendComm send = await.connection(attempt, BOUND);
        RecvComm receive = await.accepted(listener, BOUND)) {
      Registration source = send.register(arena.allocate(4096, 64), Use.SEND);
      Registration sink = receive.register(arena.allocate(4096, 64), Use.RECEIVE);
      long received = receive.irecv(sink, 1);
      long sent = Result.TRY_AGAIN;
      while (sent == Result.TRY_AGAIN && receive.test(received) == Result.IN_PROGRESS) {
        sent = send.isend(source, 1);
        Thread.yield();
      }
      await.request(receive, received, BOUND);
      long flush = await.posted(receive, () -> receive.iflush(sink, 0, sink.lengthBytes()), BOUND);
      await.request(receive, flush, BOUND);
    }
  }

  /** Doubles that share a board know of each other's regions, as NICs do. */
  @Test
  void keysAreCheckedAcrossDoubles() {
    DoubleSettings shared = DoubleSettings.cxi().withBoard(folder.resolve("board"));
    AbiDouble here = new AbiDouble(shared);
    AbiDouble there = new AbiDouble(shared);
    RawDriver initiator = new RawDriver(here);
    RawDriver target = new RawDriver(there);
    MemorySegment local = initiator.arena.allocate(64, 64);
    MemorySegment from = initiator.enabledEndpoint();
    MemorySegment data = target.enabledEndpoint();
    MemorySegment control = target.enabledEndpoint();
    MemorySegment memory = target.arena.allocate(4096, 4096);
    MemorySegment region = target.enabledRegion(memory, Access.REMOTE_WRITE, 0, data);
    long key = RawDriver.key(region);
    long dataPeer = initiator.insert(data);
    long controlPeer = initiator.insert(control);

    assertEquals(
        -FabricErrno.EINVAL, initiator.write(from, local, MemorySegment.NULL, controlPeer, 0, key));
    assertEquals(
        -FabricErrno.EINVAL, initiator.write(from, local, MemorySegment.NULL, dataPeer, 4033, key));
    assertEquals(
        List.of(Rule.REMOTE_KEY, Rule.REMOTE_RANGE),
        here.violations().stream().map(Violation::rule).toList());
    assertEquals(0, target.close(region));
    MemorySegment context = initiator.context();
    initiator.tryWrite(from, local, MemorySegment.NULL, dataPeer, 0, key, context);
    assertEquals(Rule.REMOTE_KEY_CLOSED, here.violations().getLast().rule());
    assertEquals(0, target.close(data));
    int before = here.violations().size();
    initiator.tryWrite(from, local, MemorySegment.NULL, dataPeer, 0, key, initiator.context());
    assertEquals(before, here.violations().size(), "a peer that is gone cannot tell");
    assertTrue(there.violations().isEmpty(), () -> there.violations().toString());

    assertEquals(0, target.close(control));
    assertEquals(0, initiator.close(from));
    initiator.closeAll();
    target.closeAll();
    there.requireClean();
    initiator.arena.close();
    target.arena.close();
  }
}

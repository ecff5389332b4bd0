package org.jofi.nccl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.jofi.transport.Memory;
import org.jofi.transport.RecvComm;
import org.jofi.transport.Registration;
import org.jofi.transport.Result;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Communicators whose threads meet: one closes or registers while another is in a call. */
@Timeout(60)
class CommLifeTest {
  private static final Duration LONG = Duration.ofSeconds(50);
  private static final Duration SHORT = Duration.ofMillis(100);
  private static final long BOUND_SECONDS = 30;
  private static final long BYTES = 64;

  private static final PluginLog SILENT =
      new PluginLog() {
        @Override
        public void warn(String message) {}

        @Override
        public void info(String message) {}
      };

  /** A communicator, one of whose calls stays in until it is let go. */
  private static final class Slow {
    private final String stays;
    private final AtomicInteger closed = new AtomicInteger();
    private final AtomicInteger deregistered = new AtomicInteger();
    private final CountDownLatch isIn = new CountDownLatch(1);
    private final CountDownLatch letGo = new CountDownLatch(1);

    private Slow(String stays) {
      this.stays = stays;
    }

    private Registration registration() {
      return FakeTransport.fake(
          Registration.class,
          (proxy, method, arguments) ->
              switch (method.getName()) {
                case "memory" -> Memory.host(4096, BYTES);
                case "close" -> {
                  deregistered.incrementAndGet();
                  yield null;
                }
                default -> throw new AssertionError(method.getName());
              });
    }

    private RecvComm comm() {
      return FakeTransport.fake(
          RecvComm.class,
          (proxy, method, arguments) -> {
            if (method.getName().equals(stays)) {
              isIn.countDown();
              assertTrue(letGo.await(BOUND_SECONDS, TimeUnit.SECONDS), "never let go");
            }
            return switch (method.getName()) {
              case "label" -> "slow";
              case "irecv" -> 7L;
              case "iflush" -> Result.NOTHING_TO_DO;
              case "test" -> BYTES;
              case "register" -> registration();
              case "close" -> {
                closed.incrementAndGet();
                yield null;
              }
              default -> throw new AssertionError(method.getName());
            };
          });
    }
  }

  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final Arena arena = Arena.ofShared();
  private final MemorySegment memory = arena.allocate(BYTES);
  private final MemorySegment data = arena.allocate(8);
  private final MemorySegment sizes = arena.allocate(8);
  private final MemorySegment tags = arena.allocate(4);
  private final MemorySegment regions = arena.allocate(8);

  private final Slow slow = new Slow("test");
  private final Slow next = new Slow("nothing");
  private final Slow last = new Slow("nothing");

  @AfterEach
  void end() throws InterruptedException {
    slow.letGo.countDown();
    threads.shutdown();
    assertTrue(threads.awaitTermination(BOUND_SECONDS, TimeUnit.SECONDS));
    arena.close();
  }

  private NetPlugin plugin(Duration patience, Slow first) {
    FakeTransport transport = new FakeTransport(List.of(first.comm(), next.comm(), last.comm()));
    return new NetPlugin(() -> transport, SILENT, patience);
  }

  private long listen(NetPlugin plugin) {
    MemorySegment out = arena.allocate(8);
    plugin.init(out.address());
    long context = out.get(ValueLayout.JAVA_LONG, 0);
    plugin.listen(context, 0, arena.allocate(128).address(), out.address());
    return out.get(ValueLayout.JAVA_LONG, 0);
  }

  private long accept(NetPlugin plugin, long listener) {
    MemorySegment out = arena.allocate(8);
    plugin.accept(listener, out.address());
    return out.get(ValueLayout.JAVA_LONG, 0);
  }

  private long register(NetPlugin plugin, long comm) {
    MemorySegment out = arena.allocate(8);
    plugin.regMr(comm, memory.address(), BYTES, PropertiesStruct.HOST, 0, 0, -1, out.address());
    return out.get(ValueLayout.JAVA_LONG, 0);
  }

  private long irecv(NetPlugin plugin, long comm) {
    MemorySegment out = arena.allocate(8);
    data.set(ValueLayout.JAVA_LONG, 0, memory.address());
    sizes.set(ValueLayout.JAVA_LONG, 0, BYTES);
    regions.set(ValueLayout.JAVA_LONG, 0, register(plugin, comm));
    plugin.irecv(
        comm, 1, data.address(), sizes.address(), tags.address(), regions.address(), out.address());
    return out.get(ValueLayout.JAVA_LONG, 0);
  }

  private boolean isDone(NetPlugin plugin, long request) {
    MemorySegment done = arena.allocate(4);
    assertEquals(NcclResult.SUCCESS, plugin.test(request, done.address(), 0));
    return done.get(ValueLayout.JAVA_INT, 0) == 1;
  }

  private static void await(BooleanSupplier condition) throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(BOUND_SECONDS);
    while (!condition.getAsBoolean()) {
      assertTrue(System.nanoTime() - deadline < 0, "waited too long");
      Thread.sleep(5);
    }
  }

  /** Waits for nobody: while another thread is in, the answer is to come again. */
  private boolean isRefused(NetPlugin plugin, long comm) {
    MemorySegment out = arena.allocate(8);
    try {
      plugin.irecv(
          comm,
          1,
          data.address(),
          sizes.address(),
          tags.address(),
          regions.address(),
          out.address());
      return false;
    } catch (IllegalArgumentException closed) {
      return true;
    }
  }

  @Test
  void aSlotIsGivenOutOnlyWhenItsCommunicatorIsClosed() throws Exception {
    NetPlugin plugin = plugin(LONG, slow);
    long listener = listen(plugin);
    long comm = accept(plugin, listener);
    long request = irecv(plugin, comm);
    Future<Boolean> testing = threads.submit(() -> isDone(plugin, request));
    assertTrue(slow.isIn.await(BOUND_SECONDS, TimeUnit.SECONDS));
    Future<Integer> closing = threads.submit(() -> plugin.closeRecv(comm));
    await(() -> isRefused(plugin, comm));

    long other = accept(plugin, listener);
    long otherRequest = irecv(plugin, other);
    slow.letGo.countDown();
    assertTrue(testing.get());
    assertEquals(NcclResult.SUCCESS, closing.get());

    assertNotEquals(HandleTable.slot(comm), HandleTable.slot(other));
    assertTrue(isDone(plugin, otherRequest), "its request was cleared with another's");
    assertEquals(1, slow.closed.get());
    assertEquals(HandleTable.slot(comm), HandleTable.slot(accept(plugin, listener)));
  }

  @Test
  void callsOnOneThatIsBeingClosedAreRefused() throws Exception {
    Slow closesSlowly = new Slow("close");
    NetPlugin plugin = plugin(LONG, closesSlowly);
    long comm = accept(plugin, listen(plugin));
    long request = irecv(plugin, comm);
    long region = regions.get(ValueLayout.JAVA_LONG, 0);
    Future<Integer> closing = threads.submit(() -> plugin.closeRecv(comm));
    assertTrue(closesSlowly.isIn.await(BOUND_SECONDS, TimeUnit.SECONDS));

    assertTrue(isRefused(plugin, comm));
    assertThrows(IllegalArgumentException.class, () -> isDone(plugin, request));
    assertThrows(IllegalArgumentException.class, () -> plugin.deregMr(comm, region));
    assertThrows(IllegalArgumentException.class, () -> plugin.closeRecv(comm));
    closesSlowly.letGo.countDown();

    assertEquals(NcclResult.SUCCESS, closing.get());
    assertThrows(IllegalArgumentException.class, () -> plugin.closeRecv(comm));
    assertEquals(1, closesSlowly.closed.get());
  }

  @Test
  void oneThatAThreadStaysInIsClosedWhenItLeaves() throws Exception {
    NetPlugin plugin = plugin(SHORT, slow);
    long listener = listen(plugin);
    long comm = accept(plugin, listener);
    long request = irecv(plugin, comm);
    Future<Boolean> testing = threads.submit(() -> isDone(plugin, request));
    assertTrue(slow.isIn.await(BOUND_SECONDS, TimeUnit.SECONDS));

    assertThrows(IllegalStateException.class, () -> plugin.closeRecv(comm));
    assertNotEquals(HandleTable.slot(comm), HandleTable.slot(accept(plugin, listener)));
    assertEquals(0, slow.closed.get());
    slow.letGo.countDown();

    assertTrue(testing.get());
    await(() -> slow.closed.get() == 1);
  }

  @Test
  void aRegistrationThatTakesItsTimeHoldsNobodyUp() throws Exception {
    Slow registersSlowly = new Slow("register");
    NetPlugin plugin = plugin(SHORT, registersSlowly);
    long listener = listen(plugin);
    long comm = accept(plugin, listener);
    Future<Long> registering = threads.submit(() -> register(plugin, comm));
    assertTrue(registersSlowly.isIn.await(BOUND_SECONDS, TimeUnit.SECONDS));

    MemorySegment out = arena.allocate(8);
    assertEquals(
        NcclResult.SUCCESS,
        plugin.iflush(comm, 1, data.address(), sizes.address(), regions.address(), out.address()));
    registersSlowly.letGo.countDown();

    assertEquals(NcclResult.SUCCESS, plugin.deregMr(comm, registering.get()));
    assertEquals(NcclResult.SUCCESS, plugin.closeRecv(comm));
    assertEquals(1, registersSlowly.deregistered.get());
  }

  @Test
  void aRegistrationThatEndsAfterTheCloseIsGivenBack() throws Exception {
    Slow registersSlowly = new Slow("register");
    NetPlugin plugin = plugin(SHORT, registersSlowly);
    long comm = accept(plugin, listen(plugin));
    Future<Long> registering = threads.submit(() -> register(plugin, comm));
    assertTrue(registersSlowly.isIn.await(BOUND_SECONDS, TimeUnit.SECONDS));

    assertEquals(NcclResult.SUCCESS, plugin.closeRecv(comm));
    registersSlowly.letGo.countDown();

    ExecutionException refused = assertThrows(ExecutionException.class, registering::get);
    assertEquals(IllegalArgumentException.class, refused.getCause().getClass());
    assertEquals(1, registersSlowly.deregistered.get());
  }
}

package org.jofi.nccl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jofi.allocation.Allocation;
import org.jofi.transport.ProgressThreads;
import org.jofi.transport.Transport;
import org.jofi.transport.TransportOptions;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** irecv, isend, iflush and test allocate nothing once they are compiled. */
@Timeout(120)
class NoAllocationTest {
  private static final int MESSAGES = 2_500;
  private static final long PATIENCE_NANOS = 20_000_000_000L;
  private static final long BYTES = 64;
  private static final int TAG = 3;

  private static final PluginLog SILENT =
      new PluginLog() {
        @Override
        public void warn(String message) {
          throw new AssertionError(message);
        }

        @Override
        public void info(String message) {}
      };

  private final Arena arena = Arena.global();
  private final MemorySegment out = arena.allocate(8);
  private final MemorySegment done = arena.allocate(4);
  private final MemorySegment received = arena.allocate(4);
  private final MemorySegment source = arena.allocate(BYTES);
  private final MemorySegment target = arena.allocate(BYTES);
  private final MemorySegment data = arena.allocate(8);
  private final MemorySegment sizes = arena.allocate(8);
  private final MemorySegment tags = arena.allocate(4);
  private final MemorySegment regions = arena.allocate(8);
  private long sender;
  private long receiver;
  private long sourceRegion;

  @ParameterizedTest
  @CsvSource({"tcp, NEVER", "shm, NEVER", "shm, ALWAYS"})
  void messages(String provider, ProgressThreads threads) {
    NetPlugin plugin =
        new NetPlugin(
            () ->
                Transport.open(
                    TransportOptions.builder().provider(provider).progressThreads(threads).build()),
            SILENT);
    long context = result(plugin.init(out.address()));
    connect(plugin, context);
    Allocation.assertNone(
        () -> {
          for (int message = 0; message < MESSAGES; message++) {
            move(plugin);
          }
        });
    assertEquals(NcclResult.SUCCESS, plugin.closeSend(sender));
    assertEquals(NcclResult.SUCCESS, plugin.closeRecv(receiver));
    assertEquals(NcclResult.SUCCESS, plugin.finalizeContext(context));
  }

  private long result(int code) {
    assertEquals(NcclResult.SUCCESS, code);
    return out.get(ValueLayout.JAVA_LONG, 0);
  }

  private void connect(NetPlugin plugin, long context) {
    MemorySegment handle = arena.allocate(128);
    long listener = result(plugin.listen(context, 0, handle.address(), out.address()));
    long deadline = System.nanoTime() + PATIENCE_NANOS;
    while (sender == 0 || receiver == 0) {
      if (sender == 0) {
        sender = result(plugin.connect(context, 0, handle.address(), out.address()));
      }
      if (receiver == 0) {
        receiver = result(plugin.accept(listener, out.address()));
      }
      pass(deadline);
    }
    assertEquals(NcclResult.SUCCESS, plugin.closeListen(listener));
    sourceRegion = register(plugin, sender, source);
    data.set(ValueLayout.JAVA_LONG, 0, target.address());
    sizes.set(ValueLayout.JAVA_LONG, 0, BYTES);
    tags.set(ValueLayout.JAVA_INT, 0, TAG);
    regions.set(ValueLayout.JAVA_LONG, 0, register(plugin, receiver, target));
  }

  private long register(NetPlugin plugin, long comm, MemorySegment memory) {
    return result(
        plugin.regMr(
            comm, memory.address(), BYTES, PropertiesStruct.HOST, 0, 0, -1, out.address()));
  }

  private void move(NetPlugin plugin) {
    long deadline = System.nanoTime() + PATIENCE_NANOS;
    long receive = 0;
    long send = 0;
    while (receive == 0) {
      result(
          plugin.irecv(
              receiver,
              1,
              data.address(),
              sizes.address(),
              tags.address(),
              regions.address(),
              out.address()));
      receive = out.get(ValueLayout.JAVA_LONG, 0);
      pass(deadline);
    }
    while (send == 0) {
      result(plugin.isend(sender, source.address(), BYTES, TAG, sourceRegion, out.address()));
      send = out.get(ValueLayout.JAVA_LONG, 0);
      pass(deadline);
    }
    assertNotEquals(send, receive);
    finish(plugin, send, deadline);
    finish(plugin, receive, deadline);
    if (received.get(ValueLayout.JAVA_INT, 0) != BYTES) {
      throw new AssertionError("short");
    }
    // Host memory needs none, which is the answer.
    plugin.iflush(receiver, 1, data.address(), sizes.address(), regions.address(), out.address());
    if (out.get(ValueLayout.JAVA_LONG, 0) != 0) {
      throw new AssertionError("flushed");
    }
  }

  private void finish(NetPlugin plugin, long request, long deadline) {
    do {
      if (plugin.test(request, done.address(), received.address()) != NcclResult.SUCCESS) {
        throw new AssertionError("failed");
      }
      pass(deadline);
    } while (done.get(ValueLayout.JAVA_INT, 0) == 0);
  }

  private static void pass(long deadline) {
    if (System.nanoTime() - deadline > 0) {
      throw new AssertionError("waited too long");
    }
  }
}

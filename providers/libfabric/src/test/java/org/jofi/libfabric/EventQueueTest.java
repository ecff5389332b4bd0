package org.jofi.libfabric;

import static org.jofi.libfabric.bindings.LibfabricConstants.FI_NOTIFY;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.jofi.allocation.Allocation;
import org.jofi.fabric.CompletionError;
import org.jofi.fabric.CompletionQueue;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricProvider;
import org.jofi.libfabric.bindings.fi_eq_err_entry;
import org.jofi.libfabric.bindings.fi_ops_eq;
import org.jofi.libfabric.bindings.fid_eq;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a provider writes to its event queue is logged, and nothing of it stays. */
@Timeout(60)
class EventQueueTest {
  /** Polls after which events have been looked at. */
  private static final int POLLS = 4096;

  /** libfabric's own: what is written is an error. */
  private static final long UTIL_FLAG_ERROR = 1L << 60;

  /** A provider whose endpoints take an event queue, and count themselves as its users. */
  private static final String REAL = "tcp;ofi_rxm";

  private static final int RMA_ADDRESS = 4111;

  private static final Logger LOG = Logger.getLogger("org.jofi.provider");

  private static final CompletionQueue.Sink NOTHING =
      new CompletionQueue.Sink() {
        @Override
        public void completed(int context, long flags, long lengthBytes, long data) {}

        @Override
        public void failed(CompletionError error) {}
      };

  private final List<String> logged = new CopyOnWriteArrayList<>();

  private final Handler notes =
      new Handler() {
        @Override
        public void publish(LogRecord line) {
          logged.add(line.getMessage());
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
      };

  @BeforeEach
  void listen() {
    LOG.addHandler(notes);
    LOG.setUseParentHandlers(false);
  }

  @AfterEach
  void stop() {
    LOG.removeHandler(notes);
    LOG.setUseParentHandlers(true);
  }

  private static LibfabricEventQueue events(Loopback loopback) {
    return ((LibfabricDomain) loopback.domain).events();
  }

  private static void write(LibfabricEventQueue events, int errno, int providerErrno) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment entry = arena.allocate(fi_eq_err_entry.layout());
      fi_eq_err_entry.err(entry, errno);
      fi_eq_err_entry.prov_errno(entry, providerErrno);
      MemorySegment queue = events.nativeObject();
      long bytes = fi_eq_err_entry.sizeof();
      assertEquals(
          bytes,
          fi_ops_eq.write.invoke(
              fi_ops_eq.write(fid_eq.ops(queue)),
              queue,
              FI_NOTIFY(),
              entry,
              bytes,
              UTIL_FLAG_ERROR));
    }
  }

  private static void poll(Loopback loopback, int times) {
    for (int i = 0; i < times; i++) {
      loopback.queue.poll(NOTHING, 1);
    }
  }

  @Test
  void anErrorIsLoggedWhilePolling() {
    try (Loopback loopback = Loopback.named("efa-direct", REAL)) {
      write(events(loopback), FabricErrno.EIO, RMA_ADDRESS);
      poll(loopback, POLLS);
      assertEquals(1, logged.size(), logged::toString);
      String line = logged.getFirst();
      assertTrue(line.contains("EIO") && line.contains("4111"), line);
      assertTrue(line.contains("event queue of efa-direct"), line);
    }
    assertEquals(1, logged.size(), logged::toString);
  }

  @Test
  void aFloodIsTwoLines() {
    try (Loopback loopback = Loopback.named("efa", REAL)) {
      for (int i = 0; i < 1000; i++) {
        write(events(loopback), FabricErrno.EIO, RMA_ADDRESS);
      }
      poll(loopback, POLLS);
      assertEquals(1, logged.size(), logged::toString);
    }
    assertEquals(2, logged.size(), logged::toString);
    assertTrue(logged.getLast().contains("(1000 times)"), logged::toString);
  }

  @Test
  void whatIsLeftAtTheEndIsLogged() {
    try (Loopback loopback = Loopback.named("efa", REAL)) {
      write(events(loopback), FabricErrno.EIO, 1);
      write(events(loopback), FabricErrno.ENOBUFS, 2);
      assertTrue(logged.isEmpty());
    }
    assertEquals(2, logged.size(), logged::toString);
  }

  /**
   * Closing the queue under an endpoint is refused by the provider, so that order matters. On
   * libfabric 2.1 ofi_rxm has closed half of its queue when it refuses.
   */
  @Test
  void endpointsAreBoundToIt() {
    assumeTrue(
        FabricProvider.named("libfabric").version().startsWith("libfabric 1."),
        "libfabric 2.1's ofi_rxm frees twice what it refused to close");
    try (Loopback loopback = Loopback.named("efa", REAL)) {
      LibfabricEventQueue events = events(loopback);
      assertNotNull(events);
      assertEquals(-FabricErrno.EBUSY, events.nativeClose());
    }
  }

  @Test
  void otherProvidersHaveNone() {
    try (Loopback loopback = new Loopback(REAL)) {
      assertNull(events(loopback));
    }
  }

  @Test
  void lookingAllocatesNothing() {
    try (Loopback loopback = Loopback.named("efa", REAL)) {
      Allocation.assertNone(() -> poll(loopback, 20 * POLLS));
    }
  }
}

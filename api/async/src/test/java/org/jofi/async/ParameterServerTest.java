package org.jofi.async;

import static org.jofi.async.Links.PATIENCE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordingFile;
import org.jofi.async.Links.Link;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A virtual thread for each of 64 peers, with two drivers on few processors. */
@Timeout(240)
class ParameterServerTest {
  private static final int PEERS = 64;
  private static final int ROUNDS = 10;
  private static final int FLOATS = 4_096;
  private static final int TAG = 1;
  private static final String PINNED = "pinned on purpose";

  @TempDir private Path folder;

  @Test
  void itsSumsAreExactAndNobodyIsPinned() throws Exception {
    // A thread that loads a class keeps its carrier; that is the JVM's, and over with the first
    // use, of events with the first while somebody records.
    try (Recording recording = new Recording()) {
      recording.start();
      run("shm", 2);
    }
    Path file = folder.resolve("pinned.jfr");
    try (Recording recording = new Recording()) {
      recording.enable("jdk.VirtualThreadPinned").withThreshold(Duration.ZERO);
      recording.start();
      run("shm", PEERS);
      // One that is pinned, so that it is known that such would be seen.
      assertTrue(Thread.ofVirtual().name(PINNED).start(Pinned::park).join(PATIENCE));
      recording.stop();
      recording.dump(file);
    }
    assertEquals(
        List.of(PINNED),
        RecordingFile.readAllEvents(file).stream()
            .filter(event -> event.getEventType().getName().equals("jdk.VirtualThreadPinned"))
            .map(
                event -> event.getThread().getJavaName().equals(PINNED) ? PINNED : event.toString())
            .toList());
  }

  /** Parks in its initializer, which the JVM calls. */
  private static final class Pinned {
    static {
      LockSupport.parkNanos(1_000_000);
    }

    static void park() {}
  }

  @ParameterizedTest
  @ValueSource(strings = {"net", "tcp;ofi_rxm"})
  @Tag("long")
  void soTheyAreOverSockets(String provider) throws Exception {
    run(provider, PEERS);
  }

  private static void run(String provider, int count) throws Exception {
    long bytes = 4L * FLOATS;
    try (Links links = Links.over(provider);
        Driver peers = Driver.start(links.device);
        ExecutorService tasks = Executors.newVirtualThreadPerTaskExecutor()) {
      MemorySegment parameters = links.arena.allocate(bytes, 64);
      List<Future<?>> all = new ArrayList<>();
      for (int peer = 0; peer < count; peer++) {
        int number = peer + 1;
        Link up = links.connect(peers, links.driver);
        Link down = links.connect(links.driver, peers);
        MemorySegment gradient = links.arena.allocate(bytes, 64);
        all.add(tasks.submit(() -> serve(up.in(), down.out(), gradient, parameters)));
        MemorySegment own = links.arena.allocate(bytes, 64);
        all.add(tasks.submit(() -> learn(up.out(), down.in(), own, number)));
      }
      for (Future<?> each : all) {
        each.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
      }
      float sum = ROUNDS * (count * (count + 1) / 2);
      for (int i = 0; i < FLOATS; i++) {
        assertEquals(
            sum + ROUNDS * count * (i % 7), parameters.getAtIndex(ValueLayout.JAVA_FLOAT, i));
      }
    }
  }

  private static Void serve(
      AsyncReceiver in, AsyncSender out, MemorySegment gradient, MemorySegment parameters)
      throws Exception {
    for (int round = 0; round < ROUNDS; round++) {
      in.receive(gradient, TAG).get(30, TimeUnit.SECONDS);
      synchronized (ParameterServerTest.class) {
        for (int i = 0; i < FLOATS; i++) {
          float sum =
              parameters.getAtIndex(ValueLayout.JAVA_FLOAT, i)
                  + gradient.getAtIndex(ValueLayout.JAVA_FLOAT, i);
          parameters.setAtIndex(ValueLayout.JAVA_FLOAT, i, sum);
          gradient.setAtIndex(ValueLayout.JAVA_FLOAT, i, sum);
        }
      }
      out.send(gradient, TAG).get(30, TimeUnit.SECONDS);
    }
    return null;
  }

  /** What comes back is no less than what it gave so far. */
  private static Void learn(AsyncSender out, AsyncReceiver in, MemorySegment memory, int number)
      throws Exception {
    for (int round = 1; round <= ROUNDS; round++) {
      for (int i = 0; i < FLOATS; i++) {
        memory.setAtIndex(ValueLayout.JAVA_FLOAT, i, number + i % 7);
      }
      out.send(memory, TAG).get(30, TimeUnit.SECONDS);
      assertEquals(4L * FLOATS, in.receive(memory, TAG).get(30, TimeUnit.SECONDS));
      float first = memory.getAtIndex(ValueLayout.JAVA_FLOAT, 0);
      if (first < round * number) {
        throw new AssertionError("%s after %d rounds of %d".formatted(first, round, number));
      }
    }
    return null;
  }
}

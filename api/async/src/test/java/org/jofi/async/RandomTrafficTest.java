package org.jofi.async;

import static org.jofi.async.Links.PATIENCE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jofi.async.Links.Link;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Threads that send, cancel, receive and close as a seed has it, with little room to wait in. What
 * is not cancelled arrives whole, once and in order, and no future stays open.
 */
@Timeout(240)
class RandomTrafficTest {
  private static final int LINKS = 3;
  private static final int MESSAGES = 150;
  private static final int MOST = 20_000;
  private static final int LAST = -1;
  private static final int TAG = 3;

  @Test
  void whatIsNotCancelledArrivesInOrder() throws Exception {
    for (int seed = 0; seed < 6; seed++) {
      run(seed);
    }
  }

  @Test
  @Tag("long")
  void soItDoesFromManySeeds() throws Exception {
    for (int seed = 100; seed < 125; seed++) {
      run(seed);
    }
  }

  private static void run(int seed) throws Exception {
    SplittableRandom random = new SplittableRandom(seed);
    DriverOptions options =
        DriverOptions.builder()
            .waitingRequests(1 + random.nextInt(8))
            .commands(2 + random.nextInt(14))
            .build();
    List<AsyncRequest> open = new ArrayList<>();
    try (Links links = Links.simulated(options);
        ExecutorService tasks = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<List<Integer>>> sent = new ArrayList<>();
      List<Future<List<Integer>>> received = new ArrayList<>();
      List<Receiving> receivers = new ArrayList<>();
      for (int i = 0; i < LINKS; i++) {
        Link link = links.connect();
        MemorySegment from = links.memory((MESSAGES + 1L) * MOST, 0);
        Receiving receiver =
            new Receiving(link.in(), links, random.split(), 1 + random.nextInt(12));
        SplittableRandom own = random.split();
        sent.add(tasks.submit(() -> send(link.out(), from, own)));
        received.add(tasks.submit(receiver::run));
        receivers.add(receiver);
      }
      for (int i = 0; i < LINKS; i++) {
        assertEquals(get(sent.get(i)), get(received.get(i)), "seed " + seed);
        open.addAll(receivers.get(i).open);
        if (random.nextBoolean()) {
          Links.soon(receivers.get(i).in.closeAsync());
        }
      }
    }
    for (AsyncRequest request : open) {
      assertTrue(request.isDone(), "seed " + seed);
    }
  }

  private static <T> T get(Future<T> future) throws Exception {
    return future.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
  }

  /** The numbers of those that were not cancelled. */
  private static List<Integer> send(AsyncSender out, MemorySegment from, SplittableRandom random) {
    List<Integer> numbers = new ArrayList<>();
    List<AsyncRequest> requests = new ArrayList<>();
    for (int i = 0; i < MESSAGES; i++) {
      MemorySegment message = from.asSlice((long) i * MOST, MOST);
      int bytes = random.nextBoolean() ? 8 + random.nextInt(100) : 8 + random.nextInt(MOST - 8);
      fill(message, bytes, i);
      AsyncRequest request = out.send(message, 0, bytes, TAG);
      if (random.nextInt(4) > 0 || !request.cancel(true)) {
        numbers.add(i);
        requests.add(request);
      }
    }
    MemorySegment last = from.asSlice((long) MESSAGES * MOST, MOST);
    fill(last, 8, LAST);
    requests.add(out.send(last, 0, 8, TAG));
    requests.forEach(request -> request.await(PATIENCE));
    return numbers;
  }

  private static void fill(MemorySegment message, int bytes, int number) {
    message.set(ValueLayout.JAVA_INT, 0, number);
    message.set(ValueLayout.JAVA_INT, 4, bytes);
    message.asSlice(8, bytes - 8).fill((byte) number);
  }

  /** Receives with some requests at a time. */
  private static final class Receiving {
    final AsyncReceiver in;
    final Deque<AsyncRequest> open = new ArrayDeque<>();
    private final MemorySegment to;
    private final SplittableRandom random;
    private final int window;
    private int posted;

    Receiving(AsyncReceiver in, Links links, SplittableRandom random, int window) {
      this.in = in;
      this.random = random;
      this.window = window;
      to = links.memory((long) window * MOST, 0);
    }

    List<Integer> run() {
      List<Integer> numbers = new ArrayList<>();
      for (int taken = 0; ; taken++) {
        do {
          open.add(in.receive(to, (long) (posted++ % window) * MOST, MOST, TAG));
        } while (open.size() < window && random.nextBoolean());
        long bytes = open.remove().await(PATIENCE);
        MemorySegment message = to.asSlice((long) (taken % window) * MOST, bytes);
        int number = message.get(ValueLayout.JAVA_INT, 0);
        assertEquals(bytes, message.get(ValueLayout.JAVA_INT, 4));
        for (long at = 8; at < bytes; at++) {
          if (message.get(ValueLayout.JAVA_BYTE, at) != (byte) number) {
            throw new AssertionError("byte %d of message %d".formatted(at, number));
          }
        }
        if (number == LAST) {
          return numbers;
        }
        numbers.add(number);
      }
    }
  }
}

package org.jofi.transport;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The messages of a {@link WarmUp}, from a device to itself. For one thread, once. */
final class WarmUpTraffic {
  private static final int TAG = 0;
  private static final int SHORT_BYTES = 8;
  private static final int WINDOW = 8;
  private static final int LEAST_LONG_BYTES = 4096;

  /** How often a cycle repeats each exchange. */
  private static final int REPEATS = 16;

  /** As many as HotSpot wants to have seen of a method before its second compiler takes it. */
  private static final long LEAST_MESSAGES = 20_000;

  private static final int SPINS = 2_000;
  private static final int YIELDS = 100;

  /** The clock is read once per this many polls. */
  private static final int POLLS_PER_LOOK = 64;

  /** What a message that is under way may take beyond the bound. */
  private static final long GRACE_NANOS = 250_000_000;

  /** A cycle counts as faster if it takes at most this part of the fastest one so far. */
  private static final double FASTER = 0.9;

  private final Device device;
  private final long boundNanos;

  // Spins: this thread makes all the progress there is, unless a progress thread does.
  private final IdleStrategy idle = new Backoff(SPINS, YIELDS, 1_000, 100_000);
  private final long[] sending = new long[WINDOW];
  private final long[] receiving = new long[WINDOW];
  private @Nullable SendComm sender;
  private @Nullable RecvComm receiver;
  private long messages;
  private boolean settled;
  private int polls;
  private long began;

  WarmUpTraffic(Device device, long boundNanos) {
    this.device = device;
    this.boundNanos = boundNanos;
  }

  /** How many messages arrived. */
  long messages() {
    return messages;
  }

  /** Whether the last ones were no faster than those before them. */
  boolean isSettled() {
    return settled;
  }

  /**
   * Connects, sends and closes.
   *
   * @return what failed
   */
  Optional<String> run() {
    String failure = null;
    try {
      connect();
      send();
    } catch (RuntimeException refused) {
      failure = String.valueOf(refused.getMessage());
    }
    String left = end(failure != null);
    return Optional.ofNullable(failure == null ? left : failure);
  }

  private void connect() {
    try (ListenComm listener = device.listen()) {
      // The bound does not hold for opening the device, which is not in vain.
      began = System.nanoTime();
      connect(listener);
    }
  }

  private void connect(ListenComm listener) {
    try (ConnectAttempt attempt = device.connect(listener.handle())) {
      while (sender == null || receiver == null) {
        sender = attempt.poll();
        if (receiver == null) {
          receiver = listener.accept();
        }
        idle("no connection with itself");
      }
    }
  }

  private void send() {
    // Of an automatic arena, because NICs may hold on to it after this has ended.
    int longBytes = Math.max(LEAST_LONG_BYTES, device.properties().limits().eagerBytes() + 1);
    Arena arena = Arena.ofAuto();
    Ends ends = new Ends(arena.allocate(longBytes), arena.allocate((long) WINDOW * longBytes));
    long fastest = Long.MAX_VALUE;
    long fasterAt = System.nanoTime();
    while (!settled) {
      long before = System.nanoTime();
      cycle(ends, longBytes);
      long after = System.nanoTime();
      if (after - before < fastest * FASTER) {
        fastest = after - before;
        fasterAt = after;
      }
      settled = messages >= LEAST_MESSAGES && after - fasterAt > boundNanos / 4;
      if (isOver(0)) {
        return;
      }
    }
  }

  /** Both ends' memory, as segments and registered, for callers do either. */
  private final class Ends {
    final MemorySegment from;
    final MemorySegment to;
    final Registration registeredFrom;
    final Registration registeredTo;

    Ends(MemorySegment from, MemorySegment to) {
      this.from = from;
      this.to = to;
      registeredFrom = requireSender().register(from, Use.SEND);
      registeredTo = requireReceiver().register(to, Use.RECEIVE);
    }
  }

  /** What collectives do: answer one message with the next, fill a window, be early, send much. */
  private void cycle(Ends ends, int longBytes) {
    for (int i = 0; i < REPEATS && !isOver(0); i++) {
      boolean registered = i % 2 == 0;
      exchange(1, SHORT_BYTES, ends, registered, true);
      exchange(1, SHORT_BYTES, ends, registered, false);
      exchange(WINDOW, SHORT_BYTES, ends, registered, true);
      exchange(1, longBytes, ends, registered, true);
    }
    exchange(WINDOW, SHORT_BYTES, ends, true, false);
    exchange(WINDOW, longBytes, ends, true, true);
  }

  /** Sends some messages and receives them; those who are first are posted first. */
  private void exchange(int count, int bytes, Ends ends, boolean registered, boolean receiveFirst) {
    int sent = 0;
    int received = 0;
    int sendsDone = 0;
    int receivesDone = 0;
    while (sendsDone < count || receivesDone < count) {
      boolean worked = false;
      if (received < count && (receiveFirst || sent == count)) {
        long at = (long) received * bytes;
        long request =
            registered
                ? requireReceiver().irecv(ends.registeredTo, at, bytes, TAG)
                : requireReceiver().irecv(ends.to, at, bytes, TAG);
        if (request != Result.TRY_AGAIN) {
          receiving[received++] = request;
          worked = true;
        }
      }
      if (sent < count && (!receiveFirst || received == count)) {
        long request =
            registered
                ? requireSender().isend(ends.registeredFrom, 0, bytes, TAG)
                : requireSender().isend(ends.from, 0, bytes, TAG);
        if (request != Result.TRY_AGAIN) {
          sending[sent++] = request;
          worked = true;
        }
      }
      if (receivesDone < received && isDone(requireReceiver(), receiving[receivesDone], bytes)) {
        receivesDone++;
        worked = true;
      }
      if (sendsDone < sent && isDone(requireSender(), sending[sendsDone], bytes)) {
        sendsDone++;
        worked = true;
      }
      if (!worked) {
        idle("a message with itself did not arrive");
      }
    }
    messages += count;
  }

  private static boolean isDone(Comm comm, long request, int bytes) {
    long result = comm.test(request);
    if (result == Result.IN_PROGRESS) {
      return false;
    }
    if (result != bytes) {
      throw new IllegalStateException(
          comm.failure(request).map(Failure::toString).orElse(Result.describe(result)));
    }
    return true;
  }

  private boolean isOver(long graceNanos) {
    return System.nanoTime() - began >= boundNanos + graceNanos;
  }

  private void idle(String what) {
    if (Thread.currentThread().isInterrupted()) {
      throw new TransportException(
          FailureCause.INTERRUPTED,
          device.properties().name() + ": the thread that warms up is interrupted");
    }
    if (++polls % POLLS_PER_LOOK == 0 && isOver(GRACE_NANOS)) {
      throw new TransportException(
          FailureCause.TIMED_OUT,
          "%s: %s within %.1f s"
              .formatted(device.properties().name(), what, (boundNanos + GRACE_NANOS) / 1e9));
    }
    idle.idle();
  }

  private SendComm requireSender() {
    return Objects.requireNonNull(sender);
  }

  private RecvComm requireReceiver() {
    return Objects.requireNonNull(receiver);
  }

  private @Nullable String end(boolean failed) {
    String left = end(sender, failed);
    String other = end(receiver, failed);
    return left == null ? other : left;
  }

  private static @Nullable String end(@Nullable Comm comm, boolean failed) {
    try {
      if (comm != null && failed) {
        comm.abort();
      } else if (comm != null) {
        comm.close();
      }
      return null;
    } catch (RuntimeException left) {
      return String.valueOf(left.getMessage());
    }
  }
}

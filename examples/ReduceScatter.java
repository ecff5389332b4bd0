import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jofi.transport.Await;
import org.jofi.transport.ConnectHandle;
import org.jofi.transport.Device;
import org.jofi.transport.IdleStrategy;
import org.jofi.transport.Poller;
import org.jofi.transport.RecvComm;
import org.jofi.transport.Result;
import org.jofi.transport.SendComm;
import org.jofi.transport.Transport;
import org.jofi.transport.TransportOptions;

/**
 * The first half of an all-reduce in a ring: in the end each rank holds one part of the sum of all
 * arrays. Many requests are in flight at once, and one poller tells of them as they end. The loop
 * allocates nothing.
 */

static final int RANKS = 4;
static final int CHUNK = 64 << 10;
static final int CHUNKS = 16; // of a part; an array has as many parts as there are ranks
static final int WINDOW = 8; // receives in flight
static final Duration PATIENCE = Duration.ofSeconds(30);

void main(String... arguments) throws Exception {
  var options = TransportOptions.builder();
  if (arguments.length > 0) {
    options.provider(arguments[0]);
  }
  var chosen = options.build();
  var handles = new ArrayList<CompletableFuture<ConnectHandle>>();
  for (int rank = 0; rank < RANKS; rank++) {
    handles.add(new CompletableFuture<>());
  }
  var parts = new ArrayList<Future<float[]>>();
  try (var threads = Executors.newFixedThreadPool(RANKS)) {
    for (int each = 0; each < RANKS; each++) {
      int rank = each;
      parts.add(threads.submit(() -> partOfSum(rank, chosen, handles)));
    }
  }
  for (int rank = 0; rank < RANKS; rank++) {
    float[] part = parts.get(rank).get();
    int first = (rank + 1) % RANKS * part.length;
    for (int i = 0; i < part.length; i++) {
      float expected = 0;
      for (int other = 0; other < RANKS; other++) {
        expected += element(other, first + i);
      }
      if (part[i] != expected) {
        throw new AssertionError("rank %d, element %d: %s, not %s".formatted(rank, first + i, part[i], expected));
      }
    }
  }
  IO.println("%d ranks hold a part each of the sum of %d KiB".formatted(RANKS, RANKS * CHUNKS * CHUNK >> 10));
}

/** Small whole numbers, whose sums are exact. */
static float element(int rank, int index) {
  return (rank + 1) * (index % 1_000);
}

/** What one rank does; its part in the end. */
static float[] partOfSum(int rank, TransportOptions options, List<CompletableFuture<ConnectHandle>> handles)
    throws Exception {
  var await = new Await();
  try (var transport = Transport.open(options);
      var arena = transport.openArena()) {
    Device device = transport.devices().getFirst();
    var listener = device.listen();
    handles.get(rank).complete(listener.handle());
    var attempt = device.connect(handles.get((rank + 1) % RANKS).get(PATIENCE.toSeconds(), TimeUnit.SECONDS));
    RecvComm previous = await.accepted(listener, PATIENCE);
    SendComm next = await.connection(attempt, PATIENCE);

    MemorySegment array = arena.allocate((long) RANKS * CHUNKS * CHUNK, 4096);
    for (int i = 0; i < array.byteSize() / Float.BYTES; i++) {
      array.setAtIndex(ValueLayout.JAVA_FLOAT, i, element(rank, i));
    }
    MemorySegment landing = arena.allocate((long) WINDOW * CHUNK, 4096);
    reduceScatter(device, next, previous, array, landing, rank);
    long part = (long) CHUNKS * CHUNK;
    return array.asSlice((rank + 1) % RANKS * part, part).toArray(ValueLayout.JAVA_FLOAT);
  }
}

static void reduceScatter(
    Device device, SendComm next, RecvComm previous, MemorySegment array, MemorySegment landing, int rank) {
  int total = CHUNKS * (RANKS - 1);
  var arrived = new BitSet(total);
  var at =
      new Object() {
        int posted, added, sent, gone;
      };
  Poller.Completions done =
      (comm, request, chunk, result) -> {
        Result.check(comm, request, result); // throws with the failure's own words
        if (comm == next) {
          at.gone++;
          return;
        }
        arrived.set((int) chunk);
        for (; arrived.get(at.added); at.added++) { // in order, whichever rail was faster
          add(array, place(rank - 1, at.added), landing, at.added % WINDOW * CHUNK);
        }
      };
  long deadline = System.nanoTime() + PATIENCE.toNanos();
  try (Poller poller = device.openPoller()) {
    poller.add(previous);
    poller.add(next);
    for (var idle = IdleStrategy.backoff(); at.added < total || at.gone < total; idle.idle(poller.poll(done, 256))) {
      while (at.posted < Math.min(total, at.added + WINDOW)) {
        long request = previous.irecv(landing, at.posted % WINDOW * CHUNK, CHUNK, at.posted);
        if (request == Result.TRY_AGAIN) { // too many are in flight
          break;
        }
        previous.withCookie(request, at.posted++);
      }
      while (at.sent < Math.min(total, at.added + CHUNKS)) { // a step sends what the step before added
        if (next.isend(array, place(rank, at.sent), CHUNK, at.sent) == Result.TRY_AGAIN) {
          break;
        }
        at.sent++;
      }
      if (System.nanoTime() - deadline > 0) {
        throw new IllegalStateException("rank %d has %d of %d chunks".formatted(rank, at.added, total));
      }
    }
  }
}

/** Where in the array the chunk is that a rank sends as its n-th. */
static long place(int rank, int n) {
  int part = Math.floorMod(rank - n / CHUNKS, RANKS);
  return ((long) part * CHUNKS + n % CHUNKS) * CHUNK;
}

static void add(MemorySegment into, long place, MemorySegment from, long offset) {
  for (long i = 0; i < CHUNK; i += Float.BYTES) {
    float sum = into.get(ValueLayout.JAVA_FLOAT, place + i) + from.get(ValueLayout.JAVA_FLOAT, offset + i);
    into.set(ValueLayout.JAVA_FLOAT, place + i, sum);
  }
}

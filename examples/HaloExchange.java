import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.Exchanger;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jofi.transport.Await;
import org.jofi.transport.ConnectHandle;
import org.jofi.transport.Requests;
import org.jofi.transport.Transport;
import org.jofi.transport.TransportOptions;

/**
 * Heat spreads over a plate, of which two ranks hold a half each. At each step a rank sends the row at
 * its edge to the other one and receives that one's: sends first, in one thread, without a deadlock.
 * In the end the halves are compared with a plate that nobody divided.
 *
 * <p>The ranks are threads here, each with a transport of its own. Between processes, or hosts, nothing
 * would change but the way that a handle takes: 128 bytes, over any socket.
 */

static final int COLUMNS = 2_048;
static final int ROWS = 64; // of a rank
static final int STEPS = 100;
static final long ROW = (long) COLUMNS * Double.BYTES;
static final Duration PATIENCE = Duration.ofSeconds(30);

/** A rank's half has a row above it and one below: the other rank's edge, or the cold frame. */
static final long PLATE = (ROWS + 2) * ROW;

void main(String... arguments) throws Exception {
  var options = TransportOptions.builder();
  if (arguments.length > 0) {
    options.provider(arguments[0]);
  }
  var chosen = options.build();
  var handles = new Exchanger<ConnectHandle>();
  var halves = new ArrayList<Future<double[]>>();
  try (var threads = Executors.newFixedThreadPool(2)) {
    for (int each = 0; each < 2; each++) {
      int rank = each;
      halves.add(threads.submit(() -> half(rank, chosen, handles)));
    }
  }

  var alone = new double[2][(2 * ROWS + 2) * COLUMNS];
  heat(MemorySegment.ofArray(alone[0]), 1);
  for (int t = 0; t < STEPS; t++) {
    spread(MemorySegment.ofArray(alone[t % 2]), 0, MemorySegment.ofArray(alone[1 - t % 2]), 0, 2 * ROWS);
  }
  for (int rank = 0; rank < 2; rank++) {
    double[] half = halves.get(rank).get();
    for (int i = 0; i < half.length; i++) {
      if (half[i] != alone[STEPS % 2][(1 + rank * ROWS) * COLUMNS + i]) {
        throw new AssertionError("rank %d, cell %d".formatted(rank, i));
      }
    }
  }
  IO.println("%d steps of %d rows by 2 ranks: every cell as by one".formatted(STEPS, 2 * ROWS));
}

/** What one rank does; its rows in the end. */
static double[] half(int rank, TransportOptions options, Exchanger<ConnectHandle> handles) throws Exception {
  var await = new Await();
  try (var transport = Transport.open(options);
      var arena = transport.openArena()) { // refuses to close while a request uses its memory
    var device = transport.devices().getFirst();
    var listener = device.listen();
    var attempt = device.connect(handles.exchange(listener.handle(), PATIENCE.toSeconds(), TimeUnit.SECONDS));
    var from = await.accepted(listener, PATIENCE);
    var to = await.connection(attempt, PATIENCE);

    // Two plates, of which the second one is computed from the first one, and then the other way round.
    MemorySegment grid = arena.allocate(2 * PLATE, 4096);
    if (rank == 0) {
      heat(grid, 1);
    }
    long edge = rank == 0 ? ROWS * ROW : ROW;
    long halo = rank == 0 ? (ROWS + 1) * ROW : 0;
    var requests = new Requests(2);
    for (int t = 0; t < STEPS; t++) {
      long now = t % 2 * PLATE;
      requests.clear();
      requests.add(to, to.isend(grid, now + edge, ROW, t)); // before any receive
      requests.add(from, from.irecv(grid, now + halo, ROW, t));
      await.all(requests, PATIENCE);
      spread(grid, now, grid, PLATE - now, ROWS);
    }
    return grid.asSlice(STEPS % 2 * PLATE + ROW, ROWS * ROW).toArray(ValueLayout.JAVA_DOUBLE);
  }
}

/** A hot line in one row. */
static void heat(MemorySegment plate, int row) {
  for (int column = COLUMNS / 4; column < COLUMNS / 2; column++) {
    plate.setAtIndex(ValueLayout.JAVA_DOUBLE, (long) row * COLUMNS + column, 100);
  }
}

/** One step: each cell moves towards the mean of its neighbours. */
static void spread(MemorySegment from, long old, MemorySegment into, long next, int rows) {
  for (int row = 1; row <= rows; row++) {
    for (int column = 1; column < COLUMNS - 1; column++) {
      long at = row * ROW + (long) column * Double.BYTES;
      double neighbours =
          from.get(ValueLayout.JAVA_DOUBLE, old + at - ROW)
              + from.get(ValueLayout.JAVA_DOUBLE, old + at + ROW)
              + from.get(ValueLayout.JAVA_DOUBLE, old + at - Double.BYTES)
              + from.get(ValueLayout.JAVA_DOUBLE, old + at + Double.BYTES);
      double here = from.get(ValueLayout.JAVA_DOUBLE, old + at);
      into.set(ValueLayout.JAVA_DOUBLE, next + at, here + 0.2 * (neighbours - 4 * here));
    }
  }
}

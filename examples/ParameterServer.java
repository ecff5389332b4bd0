import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jofi.async.AsyncReceiver;
import org.jofi.async.AsyncSender;
import org.jofi.async.Driver;
import org.jofi.transport.Device;
import org.jofi.transport.ListenComm;
import org.jofi.transport.Transport;
import org.jofi.transport.TransportOptions;

/**
 * A parameter server with 64 peers, and a virtual thread for each of them: it adds what each sends to its parameters, and
 * answers with them. One driver's thread moves the messages of all; the virtual threads wait parked. Code is straight, as
 * if there were one peer.
 */

static final int PEERS = 64;
static final int ROUNDS = 20;
static final int FLOATS = 4096;
static final int TAG = 1;
static final Duration PATIENCE = Duration.ofSeconds(30);
static final Object ADDING = new Object();

/** What a server has of a peer, or a peer of its server. */
record Connection(AsyncSender to, AsyncReceiver from) {}

void main(String... arguments) throws Exception {
  var options = TransportOptions.builder();
  if (arguments.length > 0) {
    options.provider(arguments[0]);
  }
  try (var transport = Transport.open(options.build());
      var arena = transport.openArena();
      Driver server = Driver.start(transport.devices().getFirst());
      Driver others = Driver.start(transport.devices().getFirst()); // the peers', in place of their processes
      var tasks = Executors.newVirtualThreadPerTaskExecutor()) {
    Device device = transport.devices().getFirst();
    MemorySegment parameters = arena.allocate((long) FLOATS * Float.BYTES, 4096);
    var all = new ArrayList<Future<?>>();
    for (int peer = 0; peer < PEERS; peer++) {
      int gift = peer + 1;
      List<Connection> ends = connect(device, server, others);
      MemorySegment here = arena.allocate(parameters.byteSize(), 4096);
      MemorySegment there = arena.allocate(parameters.byteSize(), 4096);
      all.add(tasks.submit(() -> serve(ends.getFirst(), here, parameters)));
      all.add(tasks.submit(() -> learn(ends.getLast(), there, gift)));
    }
    for (Future<?> each : all) {
      each.get();
    }
    float expected = (float) ROUNDS * PEERS * (PEERS + 1) / 2; // small whole numbers, whose sums are exact
    for (int i = 0; i < FLOATS; i++) {
      float sum = parameters.getAtIndex(ValueLayout.JAVA_FLOAT, i);
      if (sum != expected) {
        throw new AssertionError("parameter %d: %s, not %s".formatted(i, sum, expected));
      }
    }
  }
  IO.println("%d peers added %d times each: every parameter is the exact sum".formatted(PEERS, ROUNDS));
}

/** Between processes, the handles travel over a socket; here both ends are of one device. */
static List<Connection> connect(Device device, Driver server, Driver others) throws Exception {
  try (ListenComm up = device.listen();
      ListenComm down = device.listen()) {
    var fromPeer = server.accept(up);
    var fromServer = others.accept(down);
    var toServer = others.connect(up.handle());
    var toPeer = server.connect(down.handle());
    return List.of(
        new Connection(soon(toPeer), soon(fromPeer)), new Connection(soon(toServer), soon(fromServer)));
  }
}

static <T> T soon(Future<T> future) throws Exception {
  return future.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
}

static Void serve(Connection peer, MemorySegment gradient, MemorySegment parameters) {
  for (int round = 0; round < ROUNDS; round++) {
    peer.from().receive(gradient, TAG).await(PATIENCE); // parks this virtual thread
    synchronized (ADDING) { // who waits for this keeps no processor busy either
      for (int i = 0; i < FLOATS; i++) {
        float sum = parameters.getAtIndex(ValueLayout.JAVA_FLOAT, i) + gradient.getAtIndex(ValueLayout.JAVA_FLOAT, i);
        parameters.setAtIndex(ValueLayout.JAVA_FLOAT, i, sum);
      }
      gradient.copyFrom(parameters);
    }
    peer.to().send(gradient, TAG).await(PATIENCE); // waits inside until the peer receives
  }
  return null;
}

static Void learn(Connection server, MemorySegment memory, float gift) {
  for (int round = 1; round <= ROUNDS; round++) {
    for (int i = 0; i < FLOATS; i++) {
      memory.setAtIndex(ValueLayout.JAVA_FLOAT, i, gift);
    }
    server.to().send(memory, TAG).await(PATIENCE);
    server.from().receive(memory, TAG).await(PATIENCE);
    float known = memory.getAtIndex(ValueLayout.JAVA_FLOAT, 0);
    if (known < round * gift) {
      throw new AssertionError("only %s after %d times %s".formatted(known, round, gift));
    }
  }
  return null;
}

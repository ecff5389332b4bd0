package org.jofi.rdma.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.jofi.fabric.Access;
import org.jofi.fabric.MemoryKind;
import org.jofi.mr.registration.BufferRange;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.driver.Host;
import org.jofi.rdma.request.Request;
import org.jofi.rdma.request.RequestQueue;
import org.jofi.rdma.staging.StagingShape;
import org.jofi.rdma.staging.StagingSpace;
import org.jofi.rdma.wire.EagerGrant;
import org.jofi.simulated.SimulatedDevice;
import org.jofi.simulated.Simulation;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.jofi.transport.Result;

/** Messages of device memory between two sides on one thread. */
final class StagingExchange implements AutoCloseable {
  /** Chunks of 1 KiB, so that short messages have many. */
  static final StagingShape SMALL = new StagingShape(10, 4, 256);

  static final long MOST_BYTES = 64L << 20;

  /** Of a request that nothing happens to, until it fails: more than any that goes on needs. */
  private static final long SILENT_TURNS = 50_000;

  private static final long TURN_NS = 1_000_000;
  private static final long TURNS_PER_REPORT = 1_000;
  private static final byte UNTOUCHED = (byte) 0xee;

  /** A message: what is sent and received, and from and into what memory. */
  record Message(int tag, long sent, long room, boolean stagedThere, boolean stagedHere) {}

  final Arena arena = Arena.ofShared();
  final Simulation simulation;
  final Exchange exchange;
  final SimulatedDevice left;
  final SimulatedDevice right;
  final StagingSpace there;
  final StagingSpace here;
  final List<MemorySegment> sources = new ArrayList<>();
  final List<MemorySegment> targets = new ArrayList<>();
  final List<Long> sends = new ArrayList<>();
  final List<Long> receives = new ArrayList<>();
  private final List<Message> messages;

  StagingExchange(
      Simulation simulation,
      int rails,
      boolean writesData,
      StagingShape shape,
      int rings,
      EagerGrant eager,
      List<Message> messages) {
    this.simulation = simulation;
    this.messages = messages;
    exchange = new Exchange(simulation, rails, 1, writesData, MOST_BYTES, eager);
    left = simulation.host(0).openDevice(MemoryKind.CUDA);
    right = simulation.host(1).openDevice(MemoryKind.CUDA);
    there = space(left, exchange.left, shape, rings);
    here = space(right, exchange.right, shape, rings);
  }

  private static StagingSpace space(
      SimulatedDevice device, Host host, StagingShape shape, int rings) {
    return new StagingSpace(
        device,
        shape,
        memory ->
            host.endpoint.registrations.acquire(
                BufferRange.host(memory), Access.WRITE | Access.REMOTE_WRITE),
        4096,
        rings);
  }

  MemorySegment memory(int host, boolean device, long bytes) {
    return device
        ? simulation.host(host).allocateDevice(MemoryKind.CUDA, bytes)
        : arena.allocate(bytes, 64);
  }

  boolean receiveNext() {
    if (receives.size() == messages.size()) {
      return false;
    }
    int index = receives.size();
    Message message = messages.get(index);
    MemorySegment target =
        targets.size() > index
            ? targets.get(index)
            : memory(1, message.stagedHere(), message.room() + 64);
    if (targets.size() == index) {
      target.fill(UNTOUCHED);
      targets.add(target);
    }
    long id;
    if (message.stagedHere()) {
      id = exchange.receiver.receiveStaged(here, target.address(), message.room(), message.tag());
    } else {
      DataRegistration registration = exchange.register(exchange.right, target);
      id =
          Posting.receive(
              exchange.receiver,
              1,
              new long[] {target.address()},
              new long[] {message.room()},
              new int[] {message.tag()},
              new DataRegistration[] {registration});
    }
    here.grow();
    return id != Result.TRY_AGAIN && receives.add(id);
  }

  boolean sendNext() {
    if (sends.size() == messages.size()) {
      return false;
    }
    int index = sends.size();
    Message message = messages.get(index);
    if (sources.size() == index) {
      MemorySegment source = memory(0, message.stagedThere(), message.sent() + 1);
      for (long at = 0; at < message.sent(); at++) {
        source.set(ValueLayout.JAVA_BYTE, at, content(index, at));
      }
      sources.add(source);
    }
    MemorySegment source = sources.get(index);
    long id =
        message.stagedThere()
            ? exchange.sender.send(source.address(), message.sent(), message.tag(), null, there)
            : Posting.send(
                exchange.sender,
                source.address(),
                message.sent(),
                message.tag(),
                exchange.register(exchange.left, source));
    there.grow();
    return id != Result.TRY_AGAIN && sends.add(id);
  }

  private static String waiting(List<Long> ids, RequestQueue requests) {
    StringBuilder text = new StringBuilder().append(ids.size());
    for (int i = 0; i < ids.size(); i++) {
      Request request = requests.find(ids.get(i));
      if (request != null) {
        text.append("; ").append(i).append(": ").append(request.strategy().missing());
      }
    }
    return text.toString();
  }

  /** Posts and polls until all is over; what each request came to, sends first. */
  long[][] drive() {
    long[][] results = new long[2][messages.size()];
    java.util.Arrays.fill(results[0], Result.IN_PROGRESS);
    java.util.Arrays.fill(results[1], Result.IN_PROGRESS);
    int over = 0;
    int idle = 0;
    while (over < 2 * messages.size()) {
      int before = over + sends.size() + receives.size();
      while (receiveNext()) {
        idle = 0;
      }
      while (sendNext()) {
        idle = 0;
      }
      int events = exchange.progress();
      over += collect(results[0], sends, true) + collect(results[1], receives, false);
      if (events == 0 && before == over + sends.size() + receives.size()) {
        simulation.idle();
        idle++;
        int at = over;
        assertTrue(
            idle < 200_000,
            () ->
                "stalls with %d over, sent %s, received %s"
                    .formatted(
                        at, waiting(sends, exchange.sender), waiting(receives, exchange.receiver)));
      }
    }
    return results;
  }

  /** Posts and polls until all is over or a side failed; whether one did. */
  boolean driveUntilSomethingFails() {
    long[] sent = new long[messages.size()];
    long[] received = new long[messages.size()];
    java.util.Arrays.fill(sent, Result.IN_PROGRESS);
    java.util.Arrays.fill(received, Result.IN_PROGRESS);
    int over = 0;
    for (long turn = 0; over < 2 * messages.size(); turn++) {
      long now = turn;
      assertTrue(
          turn < 4 * SILENT_TURNS,
          () ->
              "neither fails nor ends: seed %d, %d, sent %s, received %s"
                  .formatted(
                      simulation.seed(),
                      now,
                      waiting(sends, exchange.sender),
                      waiting(receives, exchange.receiver)));
      receiveNext();
      sendNext();
      exchange.progress();
      simulation.idle();
      if (turn % TURNS_PER_REPORT == 0) {
        // Word that was lost with a rail fails a receive, if the peer says that it is done.
        exchange.receiver.peerIsAt(exchange.sender.finished(), exchange.sender.firstUnseen());
      }
      exchange.sender.check(turn * TURN_NS, SILENT_TURNS * TURN_NS);
      exchange.receiver.check(turn * TURN_NS, SILENT_TURNS * TURN_NS);
      over += collect(sent, sends, true) + collect(received, receives, false);
      if (exchange.sender.failure() != null || exchange.receiver.failure() != null) {
        return true;
      }
    }
    return false;
  }

  private int collect(long[] results, List<Long> ids, boolean sending) {
    int over = 0;
    for (int i = 0; i < ids.size(); i++) {
      if (results[i] == Result.IN_PROGRESS) {
        results[i] =
            sending ? exchange.sender.test(ids.get(i)) : exchange.receiver.test(ids.get(i));
        over += results[i] == Result.IN_PROGRESS ? 0 : 1;
        if (!sending && results[i] > 0) {
          // All of it has to be there when the receive says so, not only in the end.
          int index = i;
          long at =
              targets.get(i).asSlice(0, results[i]).mismatch(sources.get(i).asSlice(0, results[i]));
          assertEquals(-1, at, () -> "told too early: " + messages.get(index));
        }
      }
    }
    return over;
  }

  void assertDelivered(String line) {
    long[][] results = drive();
    for (int i = 0; i < messages.size(); i++) {
      Message message = messages.get(i);
      String what = "%s, message %d, %s".formatted(line, i, message);
      assertEquals(message.sent(), results[0][i], what);
      assertEquals(message.sent(), results[1][i], what);
      MemorySegment target = targets.get(i);
      assertEquals(
          message.sent() == 0 ? 0 : -1,
          message.sent() == 0
              ? 0
              : target
                  .asSlice(0, message.sent())
                  .mismatch(sources.get(i).asSlice(0, message.sent())),
          what);
      for (long at = message.sent(); at < target.byteSize(); at++) {
        assertEquals(UNTOUCHED, target.get(ValueLayout.JAVA_BYTE, at), what);
      }
    }
    assertEquals(0, exchange.receiver.dropped() + exchange.strays(), line);
    assertEquals(0, exchange.receiver.inFlight(), line);
  }

  @Override
  public void close() {
    there.close();
    here.close();
    exchange.close();
    assertEquals(0, left.pinned() + right.pinned(), "stays pinned");
    left.close();
    right.close();
    assertEquals(List.of(), simulation.openObjects());
    arena.close();
  }

  /** Fails both sides, and lets what was failed come to its end. */
  void failBoth() {
    Failure why = new Failure(FailureCause.ABORTED, 0, "test", "");
    exchange.sender.fail(why);
    exchange.receiver.fail(why);
    for (int i = 0; i < 100_000; i++) {
      exchange.progress();
      simulation.idle();
      if (exchange.sender.isQuiet() && exchange.receiver.isQuiet()) {
        simulation.settle();
        exchange.receiver.link.peerDone = true;
        exchange.receiver.settle();
        return;
      }
    }
    throw new AssertionError("does not come to its end");
  }

  private static byte content(long message, long at) {
    return (byte) (at * 31 + (at >>> 10) * 7 + message * 131);
  }
}

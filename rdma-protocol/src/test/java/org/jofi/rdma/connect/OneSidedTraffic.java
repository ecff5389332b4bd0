package org.jofi.rdma.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SplittableRandom;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.engine.Posting;
import org.jofi.rdma.operation.OperationSink;
import org.jofi.transport.RemoteMemory;
import org.jofi.transport.Result;

/**
 * Random writes, inline writes and reads of both sides of a connection, with messages at the same
 * time, and every byte checked: at the moment that a request is over, and again at the end. Each
 * request has a slot of its own in either side's memory.
 */
final class OneSidedTraffic {
  private static final int SLOT_BYTES = 4096;
  private static final byte UNTOUCHED = (byte) 0xee;

  private enum Kind {
    WRITE,
    INLINE,
    READ,
    SEND,
    RECEIVE
  }

  /** What a request moves, and where in its slots. */
  private record Step(int number, Connection connection, Kind kind, int length, int from, int to) {}

  private final Pair pair;
  private final List<Step> steps = new ArrayList<>();
  private final Map<Connection, DataRegistration> sources = new HashMap<>();
  private final Map<Connection, DataRegistration> targets = new HashMap<>();
  private final Map<Connection, RemoteMemory> remoteSources = new HashMap<>();
  private final Map<Connection, RemoteMemory> remoteTargets = new HashMap<>();
  private final Map<Step, Long> pending = new HashMap<>();

  OneSidedTraffic(Pair pair, long seed, int count) {
    this.pair = pair;
    Random random = Random.from(new SplittableRandom(seed));
    for (int number = 0; number < count; number++) {
      boolean inline = random.nextInt(4) == 0;
      int most = inline ? OperationSink.INLINE_BYTES : SLOT_BYTES;
      int length = random.nextInt(8) == 0 ? 0 : 1 + random.nextInt(most);
      int from = random.nextInt(SLOT_BYTES - length + 1);
      int to = random.nextInt(SLOT_BYTES - length + 1);
      if (random.nextInt(4) == 0) {
        steps.add(new Step(number, pair.receives, Kind.RECEIVE, length, from, to));
        steps.add(new Step(number, pair.sends, Kind.SEND, length, from, to));
      } else {
        Connection connection = random.nextBoolean() ? pair.sends : pair.receives;
        Kind kind = inline ? Kind.INLINE : random.nextBoolean() ? Kind.WRITE : Kind.READ;
        steps.add(new Step(number, connection, kind, length, from, to));
      }
    }
    for (Connection connection : List.of(pair.sends, pair.receives)) {
      DataRegistration source = pair.memory(connection, (long) count * SLOT_BYTES);
      DataRegistration target = pair.memory(connection, (long) count * SLOT_BYTES);
      Pair.segment(target).fill(UNTOUCHED);
      for (int number = 0; number < count; number++) {
        Pair.fill(slot(source, number), number);
      }
      sources.put(connection, source);
      targets.put(connection, target);
      remoteSources.put(connection, Pair.remote(source));
      remoteTargets.put(connection, Pair.remote(target));
    }
  }

  private static MemorySegment slot(DataRegistration memory, int number) {
    return Pair.segment(memory).asSlice((long) number * SLOT_BYTES, SLOT_BYTES);
  }

  void run() {
    List<Step> waiting = new ArrayList<>(steps);
    pair.await(
        pending.keySet(),
        () -> {
          // A send waits for its receive; all else is taken at once.
          waiting.removeIf(this::post);
          pending.entrySet().removeIf(entry -> isOver(entry.getKey(), entry.getValue()));
          return waiting.isEmpty() && pending.isEmpty();
        });
    steps.forEach(this::verify);
  }

  private boolean post(Step step) {
    long id = request(step);
    if (id == Result.TRY_AGAIN) {
      assertEquals(Kind.SEND, step.kind(), pair.toString());
      return false;
    }
    assertTrue(id > 0, () -> "%s: %s gives %d".formatted(pair, step, id));
    pending.put(step, id);
    return true;
  }

  private long request(Step step) {
    Connection connection = step.connection();
    long slot = (long) step.number() * SLOT_BYTES;
    DataRegistration source = sources.get(connection);
    DataRegistration target = targets.get(connection);
    long from = source.range().address() + slot + step.from();
    long into = target.range().address() + slot + step.to();
    RemoteMemory peersSource = remoteSources.get(pair.peer(connection));
    RemoteMemory peersTarget = remoteTargets.get(pair.peer(connection));
    int length = step.length();
    return switch (step.kind()) {
      case WRITE -> Posting.write(connection, from, length, source, peersTarget, slot + step.to());
      case INLINE -> inline(connection, from, length, peersTarget, slot + step.to());
      case READ -> Posting.read(connection, into, length, target, peersSource, slot + step.from());
      case SEND -> Posting.send(pair.sends.sender, from, length, step.number(), source);
      case RECEIVE -> pair.receive(into, length, step.number(), target);
    };
  }

  /** Gives the bytes only for the call. */
  @SuppressWarnings("restricted")
  private long inline(
      Connection connection, long from, int length, RemoteMemory remote, long offset) {
    MemorySegment bytes = pair.arena.allocate(Math.max(1, length));
    bytes.copyFrom(MemorySegment.ofAddress(from).reinterpret(length));
    long id = connection.oneSided.writeInline(bytes.address(), length, remote, offset);
    bytes.fill((byte) 0);
    return id;
  }

  private boolean isOver(Step step, long id) {
    long result = step.connection().test(id);
    if (result == Result.IN_PROGRESS) {
      return false;
    }
    assertEquals(
        step.length(),
        result,
        () -> "%s: %s, %s".formatted(pair, step, step.connection().failure(id)));
    assertEquals(Result.STALE_REQUEST, step.connection().test(id), pair.toString());
    if (step.kind() != Kind.SEND) {
      verify(step);
    }
    return true;
  }

  private void verify(Step step) {
    Connection owner =
        switch (step.kind()) {
          case WRITE, INLINE, SEND -> pair.peer(step.connection());
          case READ, RECEIVE -> step.connection();
        };
    MemorySegment found = slot(targets.get(owner), step.number());
    for (int at = 0; at < SLOT_BYTES; at++) {
      boolean moved = at >= step.to() && at < step.to() + step.length();
      byte expected = moved ? Pair.pattern(step.number(), step.from() + at - step.to()) : UNTOUCHED;
      if (found.get(ValueLayout.JAVA_BYTE, at) != expected) {
        assertEquals(
            expected,
            found.get(ValueLayout.JAVA_BYTE, at),
            "%s: %s, byte %d".formatted(pair, step, at));
      }
    }
  }
}

package org.jofi.rdma.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.jofi.mr.registration.BufferRange;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.engine.Posting;
import org.jofi.rdma.engine.Script;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.jofi.transport.Result;
import org.jspecify.annotations.Nullable;

/** One connection of a run, with what it sends and receives, and what became of each. */
final class Communicator {
  private static final byte UNTOUCHED = (byte) 0xee;
  private static final int GUARD = 128;
  private static final int GROUP = 8;

  final Node from;
  final Node to;
  private final String line;
  private final Script script;
  private final MemorySegment pattern;
  private final MemorySegment target;
  private final long[][] places;
  private final DataRegistration source;
  private final DataRegistration sink;
  private final Map<Long, Integer> receiving = new HashMap<>();
  private final Map<Long, Integer> sending = new HashMap<>();
  private final long[] lengths = new long[GROUP];
  private final List<Integer> done = new ArrayList<>();
  private int nextGroup;
  private int nextSend;
  private boolean stopped;
  private boolean closed;

  Attempt attempt;
  @Nullable SendConnection send;
  @Nullable ReceiveConnection receive;
  int successes;
  int failures;

  Communicator(String line, Node from, Node to, Script script, Arena arena, MemorySegment pattern) {
    this.line = line;
    this.from = from;
    this.to = to;
    this.script = script;
    this.pattern = pattern;
    places = new long[script.groups.size()][GROUP];
    long at = 0;
    for (int group = 0; group < places.length; group++) {
      for (int place = 0; place < script.groups.get(group).size(); place++) {
        places[group][place] = at;
        at += (script.groups.get(group).get(place).bytes() + 2L * GUARD) / GUARD * GUARD;
      }
    }
    target = arena.allocate(at + GUARD, GUARD);
    target.fill(UNTOUCHED);
    source = from.register(BufferRange.host(pattern));
    sink = to.register(BufferRange.host(target));
    attempt = null;
  }

  void connect(ConnectTo listener) {
    attempt = from.connections.connector().connect(listener.handle());
  }

  /** Where to connect to. */
  interface ConnectTo {
    org.jofi.transport.ConnectHandle handle();
  }

  /** Whether the connector knows how its attempt ended. */
  boolean isAnswered() {
    send = attempt.connection();
    return send != null || attempt.failure() != null;
  }

  /** Posts what can be posted, and looks at what is over; whether something happened. */
  boolean step() {
    boolean some = false;
    ReceiveConnection receiver = receive;
    SendConnection sender = send;
    if (receiver != null && !to.isDead()) {
      while (!stopped && nextGroup < places.length && post(receiver, nextGroup)) {
        nextGroup++;
        some = true;
      }
      some |= collectReceives(receiver);
    }
    if (sender != null && !from.isDead()) {
      while (!stopped && nextSend < script.sends.size() && send(sender, nextSend)) {
        nextSend++;
        some = true;
      }
      some |= collectSends(sender);
    }
    return some;
  }

  private boolean post(ReceiveConnection connection, int group) {
    List<Script.Receive> receives = script.groups.get(group);
    int count = receives.size();
    long[] addresses = new long[count];
    long[] bytes = new long[count];
    int[] tags = new int[count];
    DataRegistration[] memory = new DataRegistration[count];
    for (int place = 0; place < count; place++) {
      addresses[place] = target.address() + places[group][place];
      bytes[place] = receives.get(place).bytes();
      tags[place] = receives.get(place).tag();
      memory[place] = sink;
    }
    long id = Posting.receive(connection.receiver, count, addresses, bytes, tags, memory);
    if (id == Result.TRY_AGAIN) {
      return false;
    }
    receiving.put(id, group);
    return true;
  }

  private boolean send(SendConnection connection, int index) {
    Script.Send what = script.sends.get(index);
    long id =
        Posting.send(
            connection.sender, pattern.address() + offset(index), what.bytes(), what.tag(), source);
    if (id == Result.TRY_AGAIN) {
      return false;
    }
    sending.put(id, index);
    return true;
  }

  private static long offset(int index) {
    return index * 131L % (ProtocolRun.PATTERN_BYTES - Script.MAX_BYTES);
  }

  private boolean collectSends(SendConnection connection) {
    boolean some = false;
    for (Iterator<Map.Entry<Long, Integer>> all = sending.entrySet().iterator(); all.hasNext(); ) {
      Map.Entry<Long, Integer> one = all.next();
      long result = connection.test(one.getKey());
      if (result != Result.IN_PROGRESS) {
        all.remove();
        some = true;
        if (result >= 0) {
          Script.Send sent = script.sends.get(one.getValue());
          assertEquals(sent.bytes(), result, line);
          successes++;
        } else {
          failed(result, connection.failure(one.getKey()));
        }
      }
    }
    return some;
  }

  private boolean collectReceives(ReceiveConnection connection) {
    boolean some = false;
    for (Iterator<Map.Entry<Long, Integer>> all = receiving.entrySet().iterator();
        all.hasNext(); ) {
      Map.Entry<Long, Integer> one = all.next();
      long result = connection.receiver.test(one.getKey(), lengths);
      if (result != Result.IN_PROGRESS) {
        all.remove();
        some = true;
        if (result >= 0) {
          arrived(one.getValue(), result);
          successes++;
        } else {
          failed(result, connection.failure(one.getKey()));
        }
      }
    }
    return some;
  }

  private void failed(long result, @Nullable Failure why) {
    assertTrue(FailureCause.isFailure(result), () -> line + ": result " + result);
    assertTrue(why != null && why.cause().code() == result, () -> line + ": " + why);
    failures++;
    stopped = true;
  }

  private void arrived(int group, long result) {
    long total = 0;
    for (int index : script.sendsOf(group)) {
      Script.Send what = script.sends.get(index);
      assertEquals(what.bytes(), lengths[what.place()], line);
      total += what.bytes();
      MemorySegment there = target.asSlice(places[group][what.place()], what.bytes());
      long wrong = there.mismatch(pattern.asSlice(offset(index), what.bytes()));
      assertEquals(-1, wrong, () -> "%s: send %d, byte %d".formatted(line, index, wrong));
      // It is the owner's again: whatever lands from now on is somebody's fault.
      there.fill(UNTOUCHED);
    }
    assertEquals(total, result, line);
    done.add(group);
  }

  /** Whether nothing is in flight, and nothing is left to post, of live hosts. */
  boolean isOver() {
    boolean sent = from.isDead() || send == null || sending.isEmpty();
    boolean received = to.isDead() || receive == null || receiving.isEmpty();
    boolean posted =
        stopped
            || send == null
            || receive == null
            || from.isDead()
            || to.isDead()
            || (nextGroup == places.length && nextSend == script.sends.size());
    return sent && received && posted;
  }

  /** Whether all that was planned happened. */
  boolean isWhole() {
    return failures == 0 && nextGroup == places.length && nextSend == script.sends.size();
  }

  /** Posts nothing more. */
  void stop() {
    stopped = true;
  }

  /** Closes or aborts what stands on live hosts; again is a no-op. */
  void close(boolean abortSender, boolean abortReceiver) {
    stopped = true;
    SendConnection sender = send;
    if (sender != null) {
      if (abortSender) {
        from.connections.abort(sender);
      } else {
        from.connections.close(sender);
      }
    }
    ReceiveConnection receiver = receive;
    if (receiver != null) {
      if (abortReceiver) {
        to.connections.abort(receiver);
      } else {
        to.connections.close(receiver);
      }
    }
    closed = true;
  }

  boolean isClosed() {
    return closed;
  }

  boolean isReleased() {
    return (from.isDead() || send == null || send.isReleased())
        && (to.isDead() || receive == null || receive.isReleased());
  }

  /** Nothing landed on what was received, nor beside it, and gives the memory back. */
  void verifyAndRelease() {
    for (int group : done) {
      for (int place = 0; place < script.groups.get(group).size(); place++) {
        long bytes = script.groups.get(group).get(place).bytes();
        MemorySegment there = target.asSlice(places[group][place], bytes);
        for (long at = 0; at < bytes; at++) {
          if (there.get(java.lang.foreign.ValueLayout.JAVA_BYTE, at) != UNTOUCHED) {
            throw new AssertionError(
                "%s: byte %d of receive %d.%d was written after it was reported"
                    .formatted(line, at, group, place));
          }
        }
      }
    }
    source.release();
    sink.release();
  }

  String describe() {
    return "%s: %d of %d groups, %d of %d sends posted; in flight: receives %s, sends %s; send %s, receive %s"
        .formatted(
            line,
            nextGroup,
            places.length,
            nextSend,
            script.sends.size(),
            receiving.values(),
            sending.values(),
            send == null ? "none, " + attempt.failure() : send.failure(),
            receive == null ? "none" : receive.failure());
  }
}

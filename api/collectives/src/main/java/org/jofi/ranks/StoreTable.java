package org.jofi.ranks;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The values of a run's store, and who waits for which. Guarded by the run. */
final class StoreTable {
  private static final long MOST_BYTES = 64L << 20;

  /** Of one rank, of which each takes memory here. */
  static final int MOST_WAITING = 256;

  private static final byte[] NOTHING = {};

  private record Waiting(Member member, int id) {}

  private final Map<String, byte[]> values = new HashMap<>();
  private final Map<String, List<Waiting>> waiting = new HashMap<>();
  private long bytes;

  /**
   * Takes a request, and answers it, or lets it wait.
   *
   * @throws IllegalArgumentException if it is none
   */
  void take(Member member, byte[] payload) {
    StoreRequest request = StoreRequest.decode(payload);
    byte[] there = values.get(request.key);
    switch (request.operation) {
      case SET -> answer(member, request.id, put(request.key, there, request.value));
      case GET -> {
        if (there != null) {
          answer(member, request.id, StoreAnswer.Status.DONE, there);
        } else if (member.waiting < MOST_WAITING) {
          member.waiting++;
          waiting
              .computeIfAbsent(request.key, key -> new ArrayList<>())
              .add(new Waiting(member, request.id));
        } else {
          answer(member, request.id, StoreAnswer.Status.TOO_MANY);
        }
      }
      case CANCEL -> cancel(member, request);
      case ADD -> add(member, request, there);
      case COMPARE_AND_SET ->
          answer(
              member,
              request.id,
              Arrays.equals(there, request.expected)
                  ? put(request.key, there, request.value)
                  : StoreAnswer.Status.OTHER);
    }
  }

  private void cancel(Member member, StoreRequest request) {
    List<Waiting> all = waiting.get(request.key);
    remove(all, one -> one.member == member && one.id == request.id);
    if (all != null && all.isEmpty()) {
      waiting.remove(request.key);
    }
  }

  private void add(Member member, StoreRequest request, byte @Nullable [] there) {
    if (there != null && there.length != Long.BYTES) {
      answer(member, request.id, StoreAnswer.Status.NO_NUMBER);
      return;
    }
    long before = there == null ? 0 : ByteBuffer.wrap(there).getLong();
    long amount = ByteBuffer.wrap(Objects.requireNonNull(request.value)).getLong();
    byte[] sum = ByteBuffer.allocate(Long.BYTES).putLong(before + amount).array();
    answer(member, request.id, put(request.key, there, sum), sum);
  }

  private StoreAnswer.Status put(String key, byte @Nullable [] there, byte @Nullable [] value) {
    long change = bytes(key, value) - bytes(key, there);
    if (value == null) {
      values.remove(key);
    } else if (bytes + change > MOST_BYTES || (there == null && values.size() >= Store.MAX_KEYS)) {
      return StoreAnswer.Status.FULL;
    } else {
      values.put(key, value);
      tell(key, value);
    }
    bytes += change;
    return StoreAnswer.Status.DONE;
  }

  private static long bytes(String key, byte @Nullable [] value) {
    return value == null ? 0 : key.getBytes(StandardCharsets.UTF_8).length + (long) value.length;
  }

  /** Answers those that waited for a value. */
  private void tell(String key, byte[] value) {
    List<Waiting> all = waiting.remove(key);
    if (all != null) {
      for (Waiting one : all) {
        one.member.waiting--;
        answer(one.member, one.id, StoreAnswer.Status.DONE, value);
      }
    }
  }

  /** A rank waits for nothing any more. */
  void forget(Member member) {
    waiting.values().forEach(all -> remove(all, one -> one.member == member));
    waiting.values().removeIf(List::isEmpty);
  }

  private static void remove(@Nullable List<Waiting> all, Predicate<Waiting> which) {
    if (all != null) {
      all.removeIf(
          one -> {
            boolean goes = which.test(one);
            if (goes) {
              one.member.waiting--;
            }
            return goes;
          });
    }
  }

  private static void answer(Member member, int id, StoreAnswer.Status status) {
    answer(member, id, status, NOTHING);
  }

  private static void answer(Member member, int id, StoreAnswer.Status status, byte[] value) {
    member.send(new StoreAnswer(id, status, value).frame());
  }
}

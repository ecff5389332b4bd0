package org.jofi.ranks;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** The calls of a rank to the store that have no answer yet. Any thread. */
final class StoreCalls {
  private record Call(JoinedRanks ranks, CompletableFuture<StoreAnswer> answer) {}

  private final Map<Integer, Call> calls = new ConcurrentHashMap<>();
  private final AtomicInteger ids = new AtomicInteger();

  /** A number for a call. */
  int next() {
    return ids.incrementAndGet();
  }

  /** Begins a call. */
  CompletableFuture<StoreAnswer> begin(int id, JoinedRanks ranks) {
    CompletableFuture<StoreAnswer> answer = new CompletableFuture<>();
    calls.put(id, new Call(ranks, answer));
    return answer;
  }

  /** Ends a call; returns whether it had no answer. */
  boolean end(int id) {
    return calls.remove(id) != null;
  }

  /** Takes an answer; it may be to a call that has ended. */
  void take(StoreAnswer answer) {
    @Nullable Call call = calls.remove(answer.id);
    if (call != null) {
      call.answer.complete(answer);
    }
  }

  /** Ends the calls of ranks of which one is lost. */
  void endAll(JoinedRanks ranks) {
    for (Call call : calls.values()) {
      if (call.ranks == ranks) {
        end(call);
      }
    }
  }

  /** Ends all calls: this rank has left, or the server is gone. */
  void endAll() {
    calls.values().forEach(StoreCalls::end);
  }

  private static void end(Call call) {
    call.answer.completeExceptionally(new IllegalStateException("these ranks are over"));
  }
}

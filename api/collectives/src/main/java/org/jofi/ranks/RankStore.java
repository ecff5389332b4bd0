package org.jofi.ranks;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** The store, as a rank of a generation uses it. Any thread. */
final class RankStore implements Store {
  private final JoinedRanks ranks;
  private final StoreCalls calls;
  private final Duration patience;

  RankStore(JoinedRanks ranks, StoreCalls calls, Duration patience) {
    this.ranks = ranks;
    this.calls = calls;
    this.patience = patience;
  }

  @Override
  public void set(String key, byte[] value) {
    call(StoreRequest.Operation.SET, key, null, Objects.requireNonNull(value).clone(), patience);
  }

  @Override
  public byte[] get(String key, Duration timeout) {
    return call(StoreRequest.Operation.GET, key, null, null, timeout).value;
  }

  @Override
  public long add(String key, long amount) {
    byte[] bytes = ByteBuffer.allocate(Long.BYTES).putLong(amount).array();
    StoreAnswer answer = call(StoreRequest.Operation.ADD, key, null, bytes, patience);
    return ByteBuffer.wrap(answer.value).getLong();
  }

  @Override
  public boolean compareAndSet(String key, byte @Nullable [] expected, byte @Nullable [] value) {
    StoreAnswer answer =
        call(
            StoreRequest.Operation.COMPARE_AND_SET,
            key,
            expected,
            value == null ? null : value.clone(),
            patience);
    return answer.status == StoreAnswer.Status.DONE;
  }

  private StoreAnswer call(
      StoreRequest.Operation operation,
      String key,
      byte @Nullable [] expected,
      byte @Nullable [] value,
      Duration timeout) {
    int id = calls.next();
    StoreRequest request = new StoreRequest(id, operation, key, expected, value);
    ranks.checkIsIn();
    CompletableFuture<StoreAnswer> answer = calls.begin(id, ranks);
    try {
      // Whoever is lost from here on ends the call; who was lost before is seen here.
      ranks.checkAll();
      ranks.send(new Frame(Frame.Type.STORE, ranks.rank(), request.encode()));
      return checked(answer.get(Math.max(1, Timeout.nanos(timeout)), TimeUnit.NANOSECONDS), key);
    } catch (TimeoutException e) {
      throw late(operation, key, timeout, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new RanksException(ranks.name() + " was interrupted", e);
    } catch (ExecutionException e) {
      ranks.checkAll();
      throw new IllegalStateException(ranks.name() + " has left", e);
    } finally {
      if (calls.end(id) && operation == StoreRequest.Operation.GET) {
        StoreRequest cancel = new StoreRequest(id, StoreRequest.Operation.CANCEL, key, null, null);
        ranks.send(new Frame(Frame.Type.STORE, ranks.rank(), cancel.encode()));
      }
    }
  }

  private RankTimeoutException late(
      StoreRequest.Operation operation, String key, Duration timeout, TimeoutException reason) {
    String time = Timeout.words(timeout);
    return new RankTimeoutException(
        List.of(),
        operation == StoreRequest.Operation.GET
            ? "%s waited %s for '%s', which nobody set".formatted(ranks.name(), time, key)
            : "%s waited %s for the store to answer".formatted(ranks.name(), time),
        reason);
  }

  private static StoreAnswer checked(StoreAnswer answer, String key) {
    return switch (answer.status) {
      case DONE, OTHER -> answer;
      case FULL ->
          throw new IllegalStateException(
              "the store has no place for '%s': %d keys and 64 MiB at most; remove some, with compareAndSet"
                  .formatted(key, MAX_KEYS));
      case NO_NUMBER -> throw new IllegalStateException("'%s' is no number".formatted(key));
      case TOO_MANY ->
          throw new IllegalStateException(
              "this rank waits for %d keys already, and '%s' is one more"
                  .formatted(StoreTable.MOST_WAITING, key));
    };
  }
}

package org.jofi.collectives;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class AsyncGroupTest {
  private static final int COUNT = 100;

  @Test
  void operationsRunInTheirOrderWhileTheCallerGoesOn() {
    Groups.simulated(
        3,
        Groups.OPTIONS,
        group -> {
          try (AsyncGroup async = AsyncGroup.of(group)) {
            List<MemorySegment> arrays = new ArrayList<>();
            List<CompletableFuture<Void>> futures = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
              MemorySegment array = Arena.ofAuto().allocate(4 * COUNT, 4);
              array.setAtIndex(ValueLayout.JAVA_INT, COUNT - 1, i + group.rank());
              arrays.add(array);
              futures.add(
                  async
                      .run(Collective.allReduce(DataType.I32, Reduction.SUM, COUNT), array, array)
                      .toCompletableFuture());
            }
            for (int i = 0; i < 20; i++) {
              futures.get(i).get(60, TimeUnit.SECONDS);
              assertEquals(3 * i + 3, arrays.get(i).getAtIndex(ValueLayout.JAVA_INT, COUNT - 1));
            }
          }
        });
  }

  @Test
  void afterAFailureAllFail() {
    Groups.simulated(
        2,
        Groups.OPTIONS,
        group -> {
          AsyncGroup async = AsyncGroup.of(group);
          MemorySegment array = Arena.ofAuto().allocate(4 * COUNT, 4);
          CompletableFuture<Void> mismatch =
              async
                  .run(Collective.broadcast(DataType.I32, COUNT, group.rank()), array, array)
                  .toCompletableFuture();
          CompletableFuture<Void> next =
              async
                  .run(Collective.barrier(), MemorySegment.NULL, MemorySegment.NULL)
                  .toCompletableFuture();
          assertInstanceOf(MismatchException.class, cause(mismatch));
          assertInstanceOf(IllegalStateException.class, cause(next));
          async.close();
          assertThrows(
              IllegalStateException.class,
              () -> async.run(Collective.barrier(), MemorySegment.NULL, MemorySegment.NULL));
        });
  }

  /** It would wait for itself. */
  @Test
  void theThreadThatRunsOperationsDoesNotCloseIt() {
    Groups.simulated(
        1,
        Groups.OPTIONS,
        group -> {
          try (AsyncGroup async = AsyncGroup.of(group)) {
            CompletableFuture<Void> closed =
                async
                    .run(Collective.barrier(), MemorySegment.NULL, MemorySegment.NULL)
                    .toCompletableFuture()
                    .thenRunAsync(async::close, Runnable::run);
            // It may run here, if the operation was over before.
            try {
              closed.get(60, TimeUnit.SECONDS);
            } catch (ExecutionException e) {
              assertInstanceOf(IllegalStateException.class, e.getCause());
            }
          }
        });
  }

  private static Throwable cause(CompletableFuture<Void> of) {
    return assertThrows(ExecutionException.class, () -> of.get(60, TimeUnit.SECONDS)).getCause();
  }
}

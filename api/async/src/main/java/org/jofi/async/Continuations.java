package org.jofi.async;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/** Runs the program's code anywhere but on the driver's thread. */
final class Continuations implements Executor {
  private final Executor chosen;

  Continuations(Executor chosen) {
    this.chosen = chosen;
  }

  /** Runs it on a virtual thread if the chosen one refuses: nothing is lost when a pool is shut. */
  @Override
  public void execute(Runnable task) {
    try {
      chosen.execute(task);
    } catch (RuntimeException e) {
      Thread.startVirtualThread(task);
    }
  }

  /** A new future that is completed there as another one is completed. */
  <T> CompletableFuture<T> follow(CompletableFuture<T> source) {
    CompletableFuture<T> following = new CompletableFuture<>();
    var _ =
        source.whenCompleteAsync(
            (value, failure) -> {
              if (failure == null) {
                following.complete(value);
              } else {
                following.completeExceptionally(failure);
              }
            },
            this);
    return following;
  }
}

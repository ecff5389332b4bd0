package org.jofi.collectives;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A thread that runs the operations of a group, one after the other, and completes a future for
 * each: a program calculates meanwhile, such as the gradients of the next layer. All ranks submit
 * the same operations in the same order; so, if several threads of a rank submit, they agree on it.
 *
 * <p>Any thread may call this. What depends on a future runs in the thread that runs the
 * operations, unless it is run elsewhere by {@link CompletableFuture#thenRunAsync}.
 */
public final class AsyncGroup implements AutoCloseable {
  /** Operations that may wait; who submits more waits itself. */
  private static final int MOST_WAITING = 1024;

  /** How long the thread waits for an operation before it looks whether it should end. */
  private static final long LOOK_MILLIS = 100;

  private final Group group;
  private final BlockingQueue<Submitted> queue = new ArrayBlockingQueue<>(MOST_WAITING);
  private final Thread thread;
  private volatile boolean closing;

  private record Submitted(
      Collective collective,
      MemorySegment input,
      MemorySegment output,
      CompletableFuture<@Nullable Void> future) {}

  private AsyncGroup(Group group) {
    this.group = group;
    thread = Thread.ofPlatform().daemon().name("collectives").unstarted(this::runAll);
  }

  /**
   * {@return a thread for a group's operations} From here on only that thread uses the group.
   *
   * @param group its group, which is closed with this
   */
  public static AsyncGroup of(Group group) {
    AsyncGroup async = new AsyncGroup(group);
    async.thread.start();
    return async;
  }

  /**
   * {@return a future of an operation, which completes when it is over} It fails with what {@link
   * Group#run} throws; after a failure, all further ones fail. If so many wait that there is no
   * room, this waits.
   *
   * @param collective the operation
   * @param input native memory with the input, left alone until the future completes
   * @param output native memory for the output, likewise
   * @throws IllegalStateException if this is closed, the calling thread is interrupted, or it is
   *     the one that runs the operations and there is no room
   */
  public CompletionStage<@Nullable Void> run(
      Collective collective, MemorySegment input, MemorySegment output) {
    CompletableFuture<@Nullable Void> future = new CompletableFuture<>();
    Submitted submitted = new Submitted(collective, input, output, future);
    try {
      boolean taken = false;
      while (!taken) {
        if (closing) {
          throw new IllegalStateException("the group is closed");
        }
        taken = queue.offer(submitted, LOOK_MILLIS, TimeUnit.MILLISECONDS);
        if (!taken && Thread.currentThread().equals(thread)) {
          throw new IllegalStateException("%d operations wait already".formatted(MOST_WAITING));
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while " + collective + " was submitted", e);
    }
    if (!thread.isAlive()) {
      failAll();
    }
    return future;
  }

  private void runAll() {
    try {
      while (true) {
        Submitted next = queue.poll(LOOK_MILLIS, TimeUnit.MILLISECONDS);
        if (next != null) {
          run(next);
        } else if (closing) {
          return;
        }
      }
    } catch (InterruptedException e) {
      // Whoever interrupts it wants it to end.
      Thread.currentThread().interrupt();
    } finally {
      closing = true;
      failAll();
    }
  }

  private void run(Submitted next) {
    try {
      group.run(next.collective(), next.input(), next.output());
    } catch (Throwable e) {
      next.future().completeExceptionally(e);
      return;
    }
    next.future().complete(null);
  }

  private void failAll() {
    for (Submitted each = queue.poll(); each != null; each = queue.poll()) {
      each.future().completeExceptionally(new IllegalStateException("the group is closed"));
    }
  }

  /**
   * Waits until what was submitted is over, each of it within the group's time limit, and closes
   * the group. A second call does nothing.
   *
   * @throws IllegalStateException from the thread that runs the operations, which would wait for
   *     itself
   */
  @Override
  public synchronized void close() {
    if (Thread.currentThread().equals(thread)) {
      throw new IllegalStateException("a future's dependent cannot close the group of its thread");
    }
    closing = true;
    boolean interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        // What is under way ends within its time limit, and ends as soon as it sees the interrupt.
        interrupted = true;
        thread.interrupt();
      }
    }
    // What was submitted after the thread had looked for the last time.
    failAll();
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    group.close();
  }
}

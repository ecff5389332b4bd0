package org.jofi.conformance.liars;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.jofi.fabric.CompletionError;
import org.jofi.fabric.CompletionFlags;
import org.jofi.fabric.CompletionQueue;

/** A completion queue behind a lie, with slots that nobody sees and work for later. */
final class LyingQueue implements CompletionQueue {
  private static final int HIDDEN = 512;

  private record Later(long due, BooleanSupplier again) {}

  final LyingDomain domain;
  final ArrayDeque<Event> pending = new ArrayDeque<>();
  final Set<Thread> pollers = new HashSet<>();
  LyingEndpoint endpoint;
  int received;
  int emptyPolls;
  private final CompletionQueue real;
  private final int contexts;
  private final List<Later> work = new ArrayList<>();
  private int nextHidden;
  private CompletionQueue.Sink sink;
  private int given;

  LyingQueue(LyingDomain domain, int depth, int contexts) {
    this.domain = domain;
    this.contexts = contexts;
    this.real = domain.real().openCompletionQueue(depth, contexts + HIDDEN);
  }

  CompletionQueue real() {
    return real;
  }

  int hiddenContext() {
    return contexts + nextHidden++ % HIDDEN;
  }

  /** Tries something at polls from then on, for as long as it says so. */
  void later(long millis, BooleanSupplier again) {
    work.add(new Later(System.nanoTime() + millis * 1_000_000, again));
  }

  private void doWork() {
    long now = System.nanoTime();
    for (Later one : List.copyOf(work)) {
      if (one.due <= now && !one.again.getAsBoolean()) {
        work.remove(one);
      }
    }
  }

  @Override
  public int poll(Sink to, int limit) {
    pollers.add(Thread.currentThread());
    domain.provider.threads.polled();
    domain.threads.polled();
    domain.provider.calls.incrementAndGet();
    sink = to;
    given = 0;
    doWork();
    domain.lie().polling(this);
    while (given < limit && !pending.isEmpty()) {
      give(pending.removeFirst());
    }
    int code = given < limit ? domain.lie().poll(this, limit - given) : 0;
    emptyPolls = given == 0 ? emptyPolls + 1 : 0;
    return code < 0 ? code : given;
  }

  /** Polls the provider, and hands each completion to the lie. */
  int pass(int limit) {
    return real.poll(
        new Sink() {
          @Override
          public void completed(int context, long flags, long lengthBytes, long data) {
            came(new Event(context, flags, lengthBytes, data, 0, 0));
          }

          @Override
          public void failed(CompletionError error) {
            came(
                new Event(
                    error.context(),
                    error.flags(),
                    error.lengthBytes(),
                    error.data(),
                    error.errno(),
                    error.overflowBytes()));
          }
        },
        limit);
  }

  private void came(Event event) {
    if (event.context() >= contexts) {
      return;
    }
    if (event.is(CompletionFlags.RECV)) {
      received++;
    }
    domain.lie().deliver(this, event);
    if (event.context() >= 0 && endpoint != null) {
      (event.is(CompletionFlags.RECV) ? endpoint.receives : endpoint.inFlight)
          .remove(event.context());
    }
  }

  /** Tells who polls. */
  void give(Event event) {
    given++;
    event.to(sink);
  }

  @Override
  public int contexts() {
    return contexts;
  }

  @Override
  public void close() {
    domain.lie().close(this, real::close);
  }
}

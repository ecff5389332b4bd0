package org.jofi.conformance.liars;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.jofi.fabric.CompletionFlags;
import org.jofi.fabric.CompletionQueue;
import org.jofi.fabric.FabricErrno;

/** Lies of completion queues and errors. */
final class ErrorLies {
  private ErrorLies() {}

  static List<Liar> all() {
    return List.of(
        new Liar(
            "delivers more than asked for",
            "tcp",
            "errors/count",
            () ->
                new Lie() {
                  @Override
                  int poll(LyingQueue queue, int limit) {
                    return queue.pass(64);
                  }
                }),
        new Liar(
            "delivers something when idle",
            "efa",
            "errors/empty",
            () ->
                new Lie() {
                  @Override
                  void polling(LyingQueue queue) {
                    if (queue.emptyPolls > 10 && queue.domain.provider.isIdleAfterGreeting()) {
                      queue.emptyPolls = 0;
                      queue.pending.add(Event.success(CompletionQueue.NO_CONTEXT, 0, 0));
                    }
                  }
                }),
        new Liar(
            "reports receives to the queue for sends",
            "cxi",
            "errors/two-queues",
            () ->
                new Lie() {
                  @Override
                  void deliver(LyingQueue queue, Event event) {
                    LyingQueue sends = queue.endpoint.transmitQueue;
                    if (event.isReceived() && sends != queue) {
                      sends.pending.add(event);
                    } else {
                      queue.give(event);
                    }
                  }
                }),
        new Liar(
            "cuts messages silently",
            "efa",
            "errors/truncation",
            () -> truncated(event -> event.withErrno(0))),
        new Liar(
            "does not say which receive was too short",
            "tcp",
            "errors/truncation-context",
            () -> truncated(event -> event.withContext(CompletionQueue.NO_CONTEXT))),
        new Liar(
            "writes behind a receive that was too short",
            "cxi",
            "errors/truncation-bounds",
            () ->
                new Lie() {
                  @Override
                  void deliver(LyingQueue queue, Event event) {
                    LyingEndpoint.Receive receive = queue.endpoint.receives.get(event.context());
                    if (event.errno() == FabricErrno.ETRUNC && receive != null) {
                      Memory.spoil(receive.address() + receive.bytes());
                    }
                    queue.give(event);
                  }
                }),
        new Liar(
            "delivers nothing after a receive that was too short",
            "tcp",
            "errors/truncation-goes-on",
            () -> silentAfter(CompletionFlags.RECV, FabricErrno.ETRUNC)),
        new Liar(
            "reports success for writes with a bad key",
            "efa",
            "errors/bad-key-write",
            () -> failed(CompletionFlags.WRITE, event -> event.withErrno(0))),
        new Liar(
            "reports success for reads with a bad key",
            "cxi",
            "errors/bad-key-read",
            () -> failed(CompletionFlags.READ, event -> event.withErrno(0))),
        new Liar(
            "reports negative errors",
            "tcp",
            "errors/errno-positive",
            () -> failed(CompletionFlags.READ, event -> event.withErrno(-event.errno()))),
        new Liar(
            "does not say which operation failed",
            "efa",
            "errors/operation-context",
            () ->
                failed(
                    CompletionFlags.READ, event -> event.withContext(CompletionQueue.NO_CONTEXT))),
        new Liar(
            "delivers nothing after an error",
            "cxi",
            "errors/endpoint-survives",
            () -> silentAfter(CompletionFlags.READ, 0)));
  }

  private static Lie truncated(UnaryOperator<Event> change) {
    return new Delivering(
        event -> event.errno() == FabricErrno.ETRUNC ? change.apply(event) : event);
  }

  private static Lie failed(long kind, UnaryOperator<Event> change) {
    return new Delivering(
        event -> event.errno() != 0 && event.is(kind) ? change.apply(event) : event);
  }

  private static Lie silentAfter(long kind, int errno) {
    return new Lie() {
      private final Set<LyingQueue> silent = new HashSet<>();

      @Override
      synchronized void deliver(LyingQueue queue, Event event) {
        if (silent.contains(queue)) {
          return;
        }
        queue.give(event);
        boolean mine = errno == 0 ? event.errno() != 0 : event.errno() == errno;
        if (mine && event.is(kind)) {
          silent.add(queue);
        }
      }
    };
  }
}

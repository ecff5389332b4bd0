package org.jofi.conformance.liars;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jofi.fabric.CompletionFlags;
import org.jofi.fabric.FabricErrno;

/** Lies of -FI_EAGAIN and of cancelling. */
final class FlowLies {
  private FlowLies() {}

  private static final int MANY = 100;

  static List<Liar> all() {
    return List.of(
        new Liar(
            "posts what it refuses",
            "tcp",
            "eagain/nothing-posted",
            () ->
                new Lie() {
                  @Override
                  int post(LyingEndpoint endpoint, Post post) {
                    int code = endpoint.pass(post);
                    if (code == -FabricErrno.EAGAIN && endpoint.inFlight.size() > MANY) {
                      endpoint.later(1, post);
                    }
                    return code;
                  }
                }),
        new Liar(
            "refuses for ever once it refused",
            "efa",
            "eagain/retry",
            () ->
                new Lie() {
                  private final Set<LyingEndpoint> stuck = new HashSet<>();

                  @Override
                  synchronized int post(LyingEndpoint endpoint, Post post) {
                    if (stuck.contains(endpoint)) {
                      return -FabricErrno.EAGAIN;
                    }
                    int code = endpoint.pass(post);
                    if (code == -FabricErrno.EAGAIN && endpoint.inFlight.size() > MANY) {
                      stuck.add(endpoint);
                    }
                    return code;
                  }
                }),
        new Liar(
            "cancels with another error",
            "tcp",
            "cancel/ecanceled",
            () ->
                new Delivering(
                    event ->
                        event.errno() == FabricErrno.ECANCELED
                            ? event.withErrno(FabricErrno.EINTR)
                            : event)),
        new Liar(
            "cancels twice",
            "cxi",
            "cancel/completes-once",
            () ->
                new Lie() {
                  @Override
                  void deliver(LyingQueue queue, Event event) {
                    queue.give(event);
                    if (event.errno() == FabricErrno.ECANCELED) {
                      queue.pending.add(event);
                    }
                  }
                }),
        new Liar(
            "cancels other receives, too",
            "efa",
            "cancel/others-stay",
            () ->
                new Lie() {
                  @Override
                  int cancel(LyingEndpoint endpoint, int context) {
                    for (int other : List.copyOf(endpoint.receives.keySet())) {
                      if (other != context) {
                        super.cancel(endpoint, other);
                      }
                    }
                    return super.cancel(endpoint, context);
                  }
                }),
        new Liar(
            "cancels what is complete",
            "tcp",
            "cancel/too-late",
            () ->
                new Lie() {
                  @Override
                  int cancel(LyingEndpoint endpoint, int context) {
                    if (!endpoint.receives.containsKey(context)) {
                      endpoint.receiveQueue.pending.add(
                          Event.success(context, CompletionFlags.RECV, 0)
                              .withErrno(FabricErrno.ECANCELED));
                      return 0;
                    }
                    return super.cancel(endpoint, context);
                  }
                }));
  }
}

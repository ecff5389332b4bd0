package org.jofi.conformance.liars;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jofi.fabric.CompletionFlags;

/** Lies of immediate data. */
final class ImmediateLies {
  private ImmediateLies() {}

  static List<Liar> all() {
    return List.of(
        new Liar("announces a write before its bytes", "tcp", "immediate/implies-data", Early::new),
        new Liar(
            "reports no length of announced writes",
            "cxi",
            "immediate/length",
            () -> new Delivering(event -> event.isArrival() ? event.withLength(0) : event)),
        new Liar(
            "takes a receive for immediate data",
            "efa",
            "immediate/takes-no-receive",
            () ->
                new Lie() {
                  @Override
                  void deliver(LyingQueue queue, Event event) {
                    Map<Integer, LyingEndpoint.Receive> receives = queue.endpoint.receives;
                    queue.give(
                        event.isArrival() && !receives.isEmpty()
                            ? event
                                .withContext(receives.keySet().iterator().next())
                                .withFlags(event.flags() | CompletionFlags.RECV)
                            : event);
                  }
                }),
        new Liar(
            "announces a write twice",
            "efa",
            "immediate/exactly-once",
            () ->
                new Lie() {
                  private final Map<LyingQueue, Integer> arrivals = new HashMap<>();

                  @Override
                  synchronized void deliver(LyingQueue queue, Event event) {
                    queue.give(event);
                    if (event.isArrival() && arrivals.merge(queue, 1, Integer::sum) == 32) {
                      queue.pending.add(event);
                    }
                  }
                }),
        new Liar(
            "announces no empty writes",
            "cxi",
            "immediate/empty-write",
            () ->
                new Posting(
                    post ->
                        post.kind() == Post.Kind.WRITE_DATA && post.bytes() == 0
                            ? post.as(Post.Kind.WRITE)
                            : post)),
        new Liar(
            "cuts immediate data of writes",
            "tcp",
            "immediate/width-of-writes",
            () ->
                new Delivering(
                    event ->
                        event.isArrival() ? event.withData(event.data() & 0xFFFF_FFFFL) : event)),
        new Liar(
            "cuts immediate data of sends",
            "efa",
            "immediate/width-of-sends",
            () ->
                new Delivering(
                    event -> event.isReceived() ? event.withData(event.data() & 0xFFFF) : event)),
        new Liar(
            "flags every message as if it had immediate data",
            "tcp",
            "immediate/plain-send-has-none",
            () ->
                new Delivering(
                    event ->
                        event.isReceived()
                            ? event.withFlags(event.flags() | CompletionFlags.REMOTE_CQ_DATA)
                            : event)));
  }

  /** Sends the announcement with an empty write, and the bytes later. */
  private static final class Early extends Lie {
    private static final int LARGE = 65_536;

    private final ArrayDeque<Long> lengths = new ArrayDeque<>();

    @Override
    int post(LyingEndpoint endpoint, Post post) {
      if (post.kind() != Post.Kind.WRITE_DATA || post.bytes() < LARGE) {
        return endpoint.pass(post);
      }
      int code = endpoint.pass(post.withBytes(0));
      if (code == 0) {
        lengths.add(post.bytes());
        endpoint.later(20, post.as(Post.Kind.WRITE));
      }
      return code;
    }

    @Override
    void deliver(LyingQueue queue, Event event) {
      boolean early = event.isArrival() && event.lengthBytes() == 0 && !lengths.isEmpty();
      queue.give(early ? event.withLength(lengths.remove()) : event);
    }
  }
}

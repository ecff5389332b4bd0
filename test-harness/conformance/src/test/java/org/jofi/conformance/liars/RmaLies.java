package org.jofi.conformance.liars;

import java.util.List;
import org.jofi.fabric.CompletionFlags;
import org.jofi.fabric.CompletionQueue;
import org.jofi.fabric.PostFlags;

/** Lies of one-sided operations. */
final class RmaLies {
  private RmaLies() {}

  private static final int LARGE = 65_536;

  static List<Liar> all() {
    return List.of(
        new Liar(
            "completes delivery-complete writes before they are delivered",
            "tcp",
            "rma/delivery-complete",
            () ->
                new Pretending(
                    true,
                    (endpoint, post) ->
                        post.kind() == Post.Kind.WRITE
                            && post.isDelivered()
                            && post.bytes() >= LARGE)),
        new Liar(
            "loses writes",
            "efa",
            "rma/write-lands",
            () ->
                new Pretending(
                    false,
                    (endpoint, post) ->
                        post.kind() == Post.Kind.WRITE
                            && !post.isDelivered()
                            && post.bytes() >= LARGE)),
        new Liar(
            "writes words",
            "cxi",
            "rma/write-bounds",
            () ->
                new Posting(
                    post ->
                        post.kind() == Post.Kind.WRITE && post.bytes() == 65
                            ? post.withBytes(72)
                            : post)),
        new Liar(
            "loses one of many writes",
            "efa",
            "rma/many-in-flight",
            () ->
                new Pretending(
                    false,
                    (endpoint, post) ->
                        post.kind() == Post.Kind.WRITE && endpoint.inFlight.size() == 24)),
        new Liar(
            "never completes empty writes",
            "tcp",
            "rma/empty-write",
            () ->
                new Lie() {
                  @Override
                  int post(LyingEndpoint endpoint, Post post) {
                    return post.kind() == Post.Kind.WRITE && post.bytes() == 0
                        ? 0
                        : endpoint.pass(post);
                  }
                }),
        new Liar(
            "reads the buffer of an injected write later",
            "efa",
            "rma/write-inject",
            () ->
                new Pretending(
                    true,
                    (endpoint, post) ->
                        post.kind() == Post.Kind.WRITE
                            && post.flags() == PostFlags.INJECT
                            && post.bytes() <= endpoint.domain().info().limits().injectBytes())),
        new Liar(
            "takes injected writes of any length",
            "cxi",
            "rma/write-inject-limit",
            () ->
                new Lie() {
                  @Override
                  int post(LyingEndpoint endpoint, Post post) {
                    boolean tooLong =
                        post.flags() == PostFlags.INJECT
                            && post.bytes() > endpoint.domain().info().limits().injectBytes();
                    return endpoint.pass(
                        tooLong && post.kind() == Post.Kind.WRITE ? post.withFlags(0) : post);
                  }
                }),
        new Liar(
            "completes reads before the bytes are here",
            "efa",
            "rma/read",
            () ->
                new Pretending(
                    true,
                    (endpoint, post) -> post.kind() == Post.Kind.READ && post.bytes() >= LARGE)),
        new Liar(
            "reads words",
            "tcp",
            "rma/read-bounds",
            () ->
                new Posting(
                    post ->
                        post.kind() == Post.Kind.READ && post.bytes() == 65
                            ? post.withBytes(72)
                            : post)),
        new Liar(
            "tells the target of reads",
            "cxi",
            "rma/read-leaves-target",
            () ->
                new Lie() {
                  @Override
                  int post(LyingEndpoint endpoint, Post post) {
                    LyingEndpoint target = endpoint.peer(post.peer());
                    if (post.kind() == Post.Kind.READ && target != null) {
                      target.receiveQueue.pending.add(
                          Event.success(
                              CompletionQueue.NO_CONTEXT,
                              CompletionFlags.RMA | CompletionFlags.REMOTE_READ,
                              post.bytes()));
                    }
                    return endpoint.pass(post);
                  }
                }));
  }
}

package org.jofi.conformance.liars;

import java.util.List;
import org.jofi.fabric.AddressVector;
import org.jofi.fabric.CompletionFlags;
import org.jofi.fabric.CompletionQueue;
import org.jofi.fabric.FabricErrno;

/** Lies of sends and receives. */
final class MessageLies {
  private MessageLies() {}

  static List<Liar> all() {
    return List.of(
        new Liar(
            "spoils the end of long messages",
            "tcp",
            "messages/every-byte",
            () -> touching((1 << 20) - 1, 1 << 20)),
        new Liar(
            "reports lengths in words",
            "efa",
            "messages/length",
            () ->
                new Delivering(
                    event ->
                        event.isReceived()
                            ? event.withLength((event.lengthBytes() + 7) & ~7L)
                            : event)),
        new Liar(
            "writes behind a message",
            "cxi",
            "messages/nothing-behind",
            () -> touching(4096, 4096)),
        new Liar(
            "changes what it sends",
            "tcp",
            "messages/source-kept",
            () ->
                new Lie() {
                  @Override
                  void deliver(LyingQueue queue, Event event) {
                    Post post = queue.endpoint.inFlight.get(event.context());
                    if (event.is(CompletionFlags.SEND) && post != null && post.bytes() == 65_536) {
                      Memory.spoil(post.address());
                    }
                    queue.give(event);
                  }
                }),
        new Liar(
            "reports a receive twice",
            "efa",
            "messages/each-completes-once",
            () ->
                new Lie() {
                  @Override
                  void deliver(LyingQueue queue, Event event) {
                    queue.give(event);
                    if (event.isReceived() && queue.received == 20) {
                      queue.pending.add(event);
                    }
                  }
                }),
        new Liar(
            "takes sends to nobody",
            "tcp",
            "messages/unknown-peer",
            () ->
                new Lie() {
                  @Override
                  int post(LyingEndpoint endpoint, Post post) {
                    return endpoint.open && endpoint.peer(post.peer()) == null
                        ? 0
                        : endpoint.pass(post);
                  }
                }),
        new Liar(
            "injects later",
            "efa",
            "messages/inject-buffer-free",
            () ->
                new Lie() {
                  @Override
                  int post(LyingEndpoint endpoint, Post post) {
                    boolean fits = post.bytes() <= endpoint.domain().info().limits().injectBytes();
                    if (post.kind() == Post.Kind.INJECT && fits) {
                      endpoint.later(1, post);
                      return 0;
                    }
                    return endpoint.pass(post);
                  }
                }),
        new Liar(
            "reports injects",
            "cxi",
            "messages/inject-silent",
            () ->
                new Lie() {
                  @Override
                  int post(LyingEndpoint endpoint, Post post) {
                    int code = endpoint.pass(post);
                    if (post.kind() == Post.Kind.INJECT && code == 0) {
                      endpoint.transmitQueue.pending.add(
                          Event.success(CompletionQueue.NO_CONTEXT, CompletionFlags.SEND, 0));
                    }
                    return code;
                  }
                }),
        new Liar(
            "drops injects that are too long",
            "tcp",
            "messages/inject-limit",
            () ->
                new Lie() {
                  @Override
                  int post(LyingEndpoint endpoint, Post post) {
                    int code = endpoint.pass(post);
                    return post.kind() == Post.Kind.INJECT && code == -FabricErrno.EMSGSIZE
                        ? 0
                        : code;
                  }
                }),
        new Liar(
            "drops messages that nobody waits for",
            "efa",
            "messages/unexpected",
            () ->
                new Pretending(
                    false,
                    (endpoint, post) ->
                        post.kind() == Post.Kind.SEND
                            && post.bytes() >= 200
                            && endpoint.peer(post.peer()) != null
                            && endpoint.peer(post.peer()).receives.isEmpty())),
        new Liar("receives from anybody", "efa", "messages/directed", () -> receiving(true)),
        new Liar(
            "loses receives that name a peer",
            "tcp",
            "messages/not-directed",
            () -> receiving(false)));
  }

  /** Turns over a byte of the buffer of receives of that length. */
  private static Lie touching(long offset, long length) {
    return new Lie() {
      @Override
      void deliver(LyingQueue queue, Event event) {
        LyingEndpoint.Receive receive = queue.endpoint.receives.get(event.context());
        if (event.isReceived()
            && event.lengthBytes() == length
            && receive != null
            && receive.bytes() > offset) {
          Memory.spoil(receive.address() + offset);
        }
        queue.give(event);
      }
    };
  }

  private static Lie receiving(boolean fromAnybody) {
    return new Lie() {
      @Override
      int recv(
          LyingEndpoint endpoint,
          long address,
          long bytes,
          long descriptor,
          long peer,
          int context) {
        return peer == AddressVector.ANY || fromAnybody
            ? super.recv(endpoint, address, bytes, descriptor, AddressVector.ANY, context)
            : 0;
      }
    };
  }
}

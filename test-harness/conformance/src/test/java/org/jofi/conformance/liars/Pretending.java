package org.jofi.conformance.liars;

import java.util.function.BiPredicate;
import org.jofi.fabric.CompletionFlags;

/** Says that an operation is complete, and carries it out later, or not at all. */
final class Pretending extends Lie {
  private final BiPredicate<LyingEndpoint, Post> which;
  private final boolean carriesOut;

  Pretending(boolean carriesOut, BiPredicate<LyingEndpoint, Post> which) {
    this.carriesOut = carriesOut;
    this.which = which;
  }

  @Override
  int post(LyingEndpoint endpoint, Post post) {
    if (!which.test(endpoint, post)) {
      return endpoint.pass(post);
    }
    long flags =
        switch (post.kind()) {
          case READ -> CompletionFlags.RMA | CompletionFlags.READ;
          case WRITE, WRITE_DATA -> CompletionFlags.RMA | CompletionFlags.WRITE;
          default -> CompletionFlags.MSG | CompletionFlags.SEND;
        };
    endpoint.transmitQueue.pending.add(Event.success(post.context(), flags, 0));
    if (carriesOut) {
      endpoint.later(20, post);
    }
    return 0;
  }
}

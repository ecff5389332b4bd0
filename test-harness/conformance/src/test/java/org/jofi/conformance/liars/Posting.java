package org.jofi.conformance.liars;

import java.util.function.UnaryOperator;

/** Changes operations on their way. */
final class Posting extends Lie {
  private final UnaryOperator<Post> change;

  Posting(UnaryOperator<Post> change) {
    this.change = change;
  }

  @Override
  int post(LyingEndpoint endpoint, Post post) {
    return endpoint.pass(change.apply(post));
  }
}

package org.jofi.rdma.endpoint;

/**
 * Something with operations to post. It remembers which of them it has posted, so that posting can
 * be continued after the provider returned {@code -EAGAIN}.
 */
public abstract class Posting {
  /** {@link PendingPosts}' own: whether it is in there. */
  boolean queued;

  /**
   * Posts what is not posted yet, as far as the provider takes it. Never throws for what a provider
   * answers.
   *
   * @return whether nothing is left to post
   */
  protected abstract boolean post();
}

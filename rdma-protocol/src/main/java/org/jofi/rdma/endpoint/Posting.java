package org.jofi.rdma.endpoint;

/**
 * What has operations to post, and remembers which of them it posted, so that it can be asked again
 * after the provider said {@code -EAGAIN}.
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

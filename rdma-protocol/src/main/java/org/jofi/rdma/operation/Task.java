package org.jofi.rdma.operation;

/**
 * Something that may take several rounds of polling. It remembers how far it is, so that it can go
 * on after a provider took nothing for a while.
 */
public abstract class Task {
  /** {@link Tasks}' own: whether it is in there. */
  boolean queued;

  /** Does what can be done now; whether nothing is left to do. Never throws for what others do. */
  protected abstract boolean advance();
}

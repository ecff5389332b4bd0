package org.jofi.collectives;

/** What ranks call operations of together. For one thread. */
public interface Group extends AutoCloseable {
  /** Closes its connections. */
  @Override
  void close();
}

package org.jofi.cli.verify;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Optional;

/**
 * A path for bytes from a source to a target. The target has guard areas before and after it, which
 * nothing may change. For one thread.
 */
public interface DeliveryPath extends AutoCloseable {

  /** The result of a flush. */
  enum Flush {
    /** It was done. */
    DONE,
    /** The path says that none is needed. */
    NOT_NEEDED,
    /** There is no such flush. */
    IMPOSSIBLE
  }

  /** Source and target, as text. */
  String describe();

  /** Length of a message. */
  long messageBytes();

  /** Length of each guard area of the target. */
  long guardBytes();

  /** Writes the source, with {@link #messageBytes}. */
  void putSource(MemorySegment bytes);

  /** Writes the whole target: guard, message, guard. */
  void putTarget(MemorySegment bytes);

  /**
   * Sends the source to the middle of the target, and waits, with a time limit, until sender and
   * receiver have completed.
   *
   * @return what failed; empty if both completed with the whole length
   */
  Optional<String> send();

  /** Does what the path requires before the target is read. */
  Flush flush();

  /** Makes the target visible by another means, if there is one. */
  Flush flushOtherwise();

  /** Waits for a while and makes progress meanwhile. */
  void settle(Duration time);

  /** Reads the whole target as its owner sees it. */
  void readTarget(MemorySegment into);

  @Override
  void close();
}

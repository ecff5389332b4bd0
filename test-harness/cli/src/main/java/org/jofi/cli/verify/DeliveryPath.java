package org.jofi.cli.verify;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Optional;

/**
 * A way for bytes from a source to a target, with room on both sides of the target that nothing may
 * touch. For one thread.
 */
public interface DeliveryPath extends AutoCloseable {

  /** What a flush came to. */
  enum Flush {
    /** It was done. */
    DONE,
    /** The path says that none is needed. */
    NOT_NEEDED,
    /** There is no such flush. */
    IMPOSSIBLE
  }

  /** From where to where, in words. */
  String describe();

  /** Length of a message. */
  long messageBytes();

  /** Room ahead of the message in the target, and behind it. */
  long guardBytes();

  /** Writes the source, of {@link #messageBytes}. */
  void putSource(MemorySegment bytes);

  /** Writes all of the target: guard, message, guard. */
  void putTarget(MemorySegment bytes);

  /**
   * Sends the source to the middle of the target, and waits until both sides were told of it, with
   * a bound.
   *
   * @return what failed; empty if both sides were told that all of it was delivered
   */
  Optional<String> send();

  /** Does what the path demands before the target is read. */
  Flush flush();

  /** Makes the target visible by any other means that there is. */
  Flush flushOtherwise();

  /** Lets time pass, and drives what has to be driven. */
  void settle(Duration time);

  /** Reads all of the target as its owner sees it. */
  void readTarget(MemorySegment into);

  @Override
  void close();
}

package org.jofi.counters.written;

import java.lang.foreign.MemorySegment;

/**
 * The counters of a scope: of an endpoint, a rail, a cache or a transport. They are in a file, or
 * only in this process; either way they can always be written. Written with the lock of what they
 * are of, but for {@link #addAtomic}; any thread may read.
 */
public final class CounterBlock {
  private final MemorySegment values;

  CounterBlock(MemorySegment values) {
    this.values = values;
  }

  /**
   * Counters that only this process sees.
   *
   * @param scope which
   * @return all at 0
   */
  public static CounterBlock unshared(CounterScope scope) {
    int longs = CounterType.of(scope).size() * CounterLayout.VALUE_BYTES / Long.BYTES;
    return new CounterBlock(MemorySegment.ofArray(new long[longs]));
  }

  /**
   * Adds to one of the block's counters. By one thread at a time.
   *
   * @param type of the block's scope
   * @param more how much
   */
  public void add(CounterType type, long more) {
    long at = type.at;
    values.set(CounterLayout.LONG, at, values.get(CounterLayout.LONG, at) + more);
  }

  /**
   * A provider took an operation over a rail, whose counters these are.
   *
   * @param isData whether over a data rail, and not a control rail
   * @param reads whether it reads
   * @param lengthBytes how much it moves
   */
  public void took(boolean isData, boolean reads, long lengthBytes) {
    if (!isData) {
      add(CounterType.CONTROL_OPERATIONS, 1);
      add(CounterType.CONTROL_BYTES, lengthBytes);
    } else if (reads) {
      add(CounterType.STRIPES_READ, 1);
      add(CounterType.BYTES_READ, lengthBytes);
    } else {
      add(CounterType.STRIPES_WRITTEN, 1);
      add(CounterType.BYTES_WRITTEN, lengthBytes);
    }
  }

  /**
   * Adds to one of the block's counters, whatever other threads do.
   *
   * @param type of the block's scope
   * @param more how much
   */
  public void addAtomic(CounterType type, long more) {
    CounterLayout.LONGS.getAndAdd(values, type.at, more);
  }

  /**
   * Sets one of the block's counters.
   *
   * @param type of the block's scope
   * @param to its value from now on
   */
  public void set(CounterType type, long to) {
    values.set(CounterLayout.LONG, type.at, to);
  }

  /**
   * Reads one of the block's counters.
   *
   * @param type of the block's scope
   * @return its value
   */
  public long get(CounterType type) {
    return (long) CounterLayout.LONGS.getVolatile(values, type.at);
  }
}

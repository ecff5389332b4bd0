package org.jofi.transport;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A batch of requests to wait for, of any communicators; see {@link Await#all} and {@link
 * Await#any}. For one thread. It is reused: cleared, it allocates nothing until it holds more than
 * ever before.
 */
public final class Requests {
  private static final int LEAST = 8;

  private @Nullable Comm[] comms;
  private long[] ids;
  private long[] results;
  // Those that are not over, and those that are and were not returned by next(): indices.
  private int[] waiting;
  private int pending;
  private int[] fresh;
  private int told;
  private int over;
  private int size;

  /**
   * An empty one with room for so many.
   *
   * @param expected how many it can hold before it has to grow; less than 8 is taken as 8
   */
  public Requests(int expected) {
    int room = Math.max(LEAST, expected);
    comms = new @Nullable Comm[room];
    ids = new long[room];
    results = new long[room];
    waiting = new int[room];
    fresh = new int[room];
  }

  /**
   * Adds a request.
   *
   * @param comm whose request it is
   * @param request an id, or {@link Result#NOTHING_TO_DO}, which counts as a request that moved
   *     nothing
   * @return its index, from 0 on in the order of adding
   * @throws IllegalArgumentException for {@link Result#TRY_AGAIN}, which is no request: post it
   *     again
   */
  public int add(Comm comm, long request) {
    if (request <= 0 && request != Result.NOTHING_TO_DO) {
      throw new IllegalArgumentException(
          "%s: %s is no request".formatted(comm.label(), Result.describe(request)));
    }
    if (size == ids.length) {
      grow();
    }
    int index = size++;
    comms[index] = comm;
    ids[index] = request;
    if (request == Result.NOTHING_TO_DO) {
      results[index] = 0;
      fresh[over++] = index;
    } else {
      results[index] = Result.IN_PROGRESS;
      waiting[pending++] = index;
    }
    return index;
  }

  private void grow() {
    int room = 2 * size;
    comms = Arrays.copyOf(comms, room);
    ids = Arrays.copyOf(ids, room);
    results = Arrays.copyOf(results, room);
    waiting = Arrays.copyOf(waiting, room);
    fresh = Arrays.copyOf(fresh, room);
  }

  /** {@return how many were added, since it was made or cleared} */
  public int size() {
    return size;
  }

  /** {@return how many are not over, as far as was looked} */
  public int pending() {
    return pending;
  }

  /**
   * {@return whose request it is}
   *
   * @param index what {@link #add} returned for it, below {@link #size}
   */
  public Comm comm(int index) {
    return Objects.requireNonNull(comms[checked(index)]);
  }

  /**
   * {@return the request's id} It is {@link Result#NOTHING_TO_DO} if that was added.
   *
   * @param index what {@link #add} returned for it, below {@link #size}
   */
  public long request(int index) {
    return ids[checked(index)];
  }

  /**
   * {@return how it ended, as {@link Comm#test} reported it; {@link Result#IN_PROGRESS} if it is
   * not over, as far as was looked}
   *
   * @param index what {@link #add} returned for it, below {@link #size}
   */
  public long result(int index) {
    return results[checked(index)];
  }

  private int checked(int index) {
    if (index < 0 || index >= size) {
      throw new IndexOutOfBoundsException("%d of %d requests".formatted(index, size));
    }
    return index;
  }

  /** Forgets all of them. Those that are not over stay in flight. */
  public void clear() {
    Arrays.fill(comms, 0, size, null);
    size = 0;
    pending = 0;
    told = 0;
    over = 0;
  }

  /** Tests each that is not over, once; whether any ended. */
  boolean test() {
    int left = 0;
    for (int i = 0; i < pending; i++) {
      int index = waiting[i];
      long result = comm(index).test(ids[index]);
      if (result == Result.IN_PROGRESS) {
        waiting[left++] = index;
      } else {
        results[index] = result;
        fresh[over++] = index;
      }
    }
    boolean any = left < pending;
    pending = left;
    return any;
  }

  /** The index of one that is over and was not returned before; -1 if there is none. */
  int next() {
    return told < over ? fresh[told++] : -1;
  }

  /** The index of the first that failed, in the order in which they ended; -1 if none did. */
  int failed() {
    for (int i = 0; i < over; i++) {
      if (results[fresh[i]] < 0) {
        return fresh[i];
      }
    }
    return -1;
  }
}

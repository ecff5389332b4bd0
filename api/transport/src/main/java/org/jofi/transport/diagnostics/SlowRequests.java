package org.jofi.transport.diagnostics;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The requests of one communicator that are timed, while {@link Events#areSlowRequestsRecorded}.
 * Whoever uses it says what time it is, in nanoseconds of one clock. One thread at a time.
 */
public final class SlowRequests {
  private final Map<Long, SlowRequestEvent> timed = new HashMap<>(0);

  /** Times none. */
  public SlowRequests() {}

  /**
   * Whether none is timed.
   *
   * @return false if one was posted, and is not over
   */
  public boolean isEmpty() {
    return timed.isEmpty();
  }

  /**
   * A request was posted: it is timed.
   *
   * @param request its id
   * @param now the time, in ns
   * @param matched whether it waits for no match
   */
  public void posted(long request, long now, boolean matched) {
    SlowRequestEvent event = SlowRequestEvent.begun();
    event.postedAt = now;
    event.isMatched = matched;
    event.matchedAt = now;
    timed.put(request, event);
  }

  /**
   * A request was matched; the first time counts.
   *
   * @param request its id, timed or not
   * @param now the time, in ns
   */
  public void matched(long request, long now) {
    @Nullable SlowRequestEvent event = timed.get(request);
    if (event != null && !event.isMatched) {
      event.isMatched = true;
      event.matchedAt = now;
    }
  }

  /**
   * A request is over, and no longer timed.
   *
   * @param request its id, timed or not
   * @param now the time, in ns
   * @param label the communicator
   * @param kind send, receive, one-sided or flush
   * @param bytes how much it was to move
   */
  public void over(long request, long now, String label, String kind, long bytes) {
    @Nullable SlowRequestEvent event = timed.remove(request);
    if (event != null) {
      long matchedAt = event.isMatched ? event.matchedAt : now;
      event.commit(label, kind, bytes, matchedAt - event.postedAt, now - matchedAt);
    }
  }
}

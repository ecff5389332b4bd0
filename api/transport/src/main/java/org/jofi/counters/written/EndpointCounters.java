package org.jofi.counters.written;

import java.util.List;
import java.util.stream.IntStream;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;

/**
 * The counters of an endpoint and of its rails. Written with the endpoint's lock held.
 *
 * @param all those of the endpoint
 * @param rails those of each rail
 * @param errors what failed, in words
 */
public record EndpointCounters(CounterBlock all, List<CounterBlock> rails, ErrorLog errors) {
  /**
   * Counters that only this process sees.
   *
   * @param rails how many rails
   * @return all at 0
   */
  public static EndpointCounters unshared(int rails) {
    return new EndpointCounters(
        CounterBlock.unshared(CounterScope.ENDPOINT),
        IntStream.range(0, rails).mapToObj(_ -> CounterBlock.unshared(CounterScope.RAIL)).toList(),
        ErrorLog.NONE);
  }

  /**
   * Adds to one of the endpoint's counters.
   *
   * @param type of an endpoint
   * @param more how much
   */
  public void add(CounterType type, long more) {
    all.add(type, more);
  }

  /**
   * A request failed. One that ends because one of the sides closes is counted, and no error.
   *
   * @param why how
   */
  public void failed(Failure why) {
    all.add(CounterType.of(why.cause()), 1);
    if (why.cause() != FailureCause.CLOSED && why.cause() != FailureCause.PEER_CLOSED) {
      errors.add(why);
    }
  }
}

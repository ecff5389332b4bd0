package org.jofi.transport;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;

/**
 * Messages that a device sent to itself so that the JIT compiler compiled the transport. The first
 * thousands of messages of a process take several times as long as later ones, since the compiler
 * has to see code run before it compiles it. A caller for whom they matter lets them be sent where
 * nobody waits for them.
 *
 * <p>The messages use host memory alone: short ones, one at a time and several at once, with the
 * receive posted first or last, and ones that are too long to leave before their receive. They go
 * through the device's NICs and count in what the NICs, the provider and the registration cache
 * count. Afterwards no connection of them is left, and nothing of their memory but what the cache
 * keeps until it is collected; the device stays open.
 *
 * @param messages how many were sent and received
 * @param took how long all of it took, connecting and closing included
 * @param settled whether it ended because messages got no faster any more, and not at its bound
 * @param failure why it ended early, or what of it could not be closed; empty if nothing failed
 */
public record WarmUp(long messages, Duration took, boolean settled, Optional<String> failure) {

  /** Checks that nothing is null. */
  public WarmUp {
    Objects.requireNonNull(took);
    Objects.requireNonNull(failure);
  }

  /**
   * Warms up on the calling thread, until messages get no faster or the time is over. It spins.
   * Other threads may use the device meanwhile. What goes wrong with the device is in the result
   * and is not thrown: it will show again where it matters.
   *
   * @param device opened by this if it is not open yet, for which the bound does not hold
   * @param atMost how long connecting and sending may take; 0 does nothing. A message that is under
   *     way then has a quarter of a second more. If the NICs hold on to messages, giving up takes
   *     up to {@link TransportOptions#closeTimeout()} more for each side of the connection
   * @return what was done
   * @throws IllegalArgumentException if the time is negative
   */
  public static WarmUp of(Device device, Duration atMost) {
    if (atMost.isNegative()) {
      throw new IllegalArgumentException("cannot warm up for " + atMost);
    }
    if (atMost.isZero()) {
      return new WarmUp(0, Duration.ZERO, false, Optional.empty());
    }
    long began = System.nanoTime();
    WarmUpTraffic traffic = new WarmUpTraffic(device, atMost.toNanos());
    Optional<String> failure = traffic.run();
    return new WarmUp(
        traffic.messages(),
        Duration.ofNanos(System.nanoTime() - began),
        traffic.isSettled(),
        failure);
  }

  /** {@return a sentence that says what was done} */
  @Override
  public String toString() {
    String done = "warmed up with %d messages in %.2f s".formatted(messages, took.toNanos() / 1e9);
    return failure.map(why -> done + "; then: " + why).orElse(done);
  }
}

package org.jofi.async;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadFactory;
import org.jspecify.annotations.Nullable;

/** How a driver works. Immutable; any thread. */
public final class DriverOptions {
  private static final DriverOptions DEFAULTS = builder().build();

  private final int commands;
  private final int waitingRequests;
  private final Duration submitTimeout;
  private final Duration closeTimeout;
  private final Duration longestPause;
  private final Executor continuations;
  private final @Nullable ThreadFactory threadFactory;

  private DriverOptions(Builder from) {
    commands = from.commands;
    waitingRequests = from.waitingRequests;
    submitTimeout = from.submitTimeout;
    closeTimeout = from.closeTimeout;
    longestPause = from.longestPause;
    continuations = from.continuations;
    threadFactory = from.threadFactory;
  }

  /** {@return options of which none was changed} */
  public static DriverOptions defaults() {
    return DEFAULTS;
  }

  /** {@return a builder with the defaults} */
  public static Builder builder() {
    return new Builder();
  }

  /** {@return how many commands of all threads the driver's queue holds; 4096 by default} */
  public int commands() {
    return commands;
  }

  /**
   * {@return how many messages of a communicator, and as many one-sided operations and flushes, may
   * wait to be posted; 256 by default}
   */
  public int waitingRequests() {
    return waitingRequests;
  }

  /**
   * {@return how long a thread waits that submits while there is no room; 10 s by default, and 0
   * does not wait}
   */
  public Duration submitTimeout() {
    return submitTimeout;
  }

  /** {@return how long {@link Driver#close} waits; 30 s by default} */
  public Duration closeTimeout() {
    return closeTimeout;
  }

  /**
   * {@return how long the driver's thread is parked at most between two polls of a network where
   * nothing happens; 1 ms by default} A command wakes it at once; what arrives from the network
   * waits for the next poll. With 0 it is never parked while it owns a communicator, and takes a
   * processor for itself.
   */
  public Duration longestPause() {
    return longestPause;
  }

  /**
   * {@return what runs continuations of requests, and completes futures of connections and closes}
   * By default each has a virtual thread of its own. One that refuses a task is replaced by that.
   * One that runs them on the calling thread, as {@code Runnable::run}, has them run on the
   * driver's: they must then neither block nor take long, and calls that would wait for the driver
   * there throw {@link IllegalStateException}.
   */
  public Executor continuations() {
    return continuations;
  }

  /** What makes the driver's thread; null for a daemon thread that is named after the device. */
  @Nullable ThreadFactory threadFactory() {
    return threadFactory;
  }

  /** Collects options. Not for sharing between threads. */
  public static final class Builder {
    private int commands = 4_096;
    private int waitingRequests = 256;
    private Duration submitTimeout = Duration.ofSeconds(10);
    private Duration closeTimeout = Duration.ofSeconds(30);
    private Duration longestPause = Duration.ofMillis(1);
    private Executor continuations = Thread::startVirtualThread;
    private @Nullable ThreadFactory threadFactory;

    private Builder() {}

    /**
     * Sets {@link DriverOptions#commands()}.
     *
     * @param value 2 to 1048576; it is rounded up to a power of two
     * @return this builder
     * @throws IllegalArgumentException if it is out of its range
     */
    public Builder commands(int value) {
      commands = within("commands", value, 2, 1 << 20);
      return this;
    }

    /**
     * Sets {@link DriverOptions#waitingRequests()}.
     *
     * @param value 1 to 1048576
     * @return this builder
     * @throws IllegalArgumentException if it is out of its range
     */
    public Builder waitingRequests(int value) {
      waitingRequests = within("waitingRequests", value, 1, 1 << 20);
      return this;
    }

    /**
     * Sets {@link DriverOptions#submitTimeout()}.
     *
     * @param value 0 or more, up to a day
     * @return this builder
     * @throws IllegalArgumentException if it is out of its range
     */
    public Builder submitTimeout(Duration value) {
      submitTimeout = within("submitTimeout", value, Duration.ofDays(1));
      return this;
    }

    /**
     * Sets {@link DriverOptions#closeTimeout()}.
     *
     * @param value 0 or more, up to a day
     * @return this builder
     * @throws IllegalArgumentException if it is out of its range
     */
    public Builder closeTimeout(Duration value) {
      closeTimeout = within("closeTimeout", value, Duration.ofDays(1));
      return this;
    }

    /**
     * Sets {@link DriverOptions#longestPause()}.
     *
     * @param value 0 to 100 ms
     * @return this builder
     * @throws IllegalArgumentException if it is out of its range
     */
    public Builder longestPause(Duration value) {
      longestPause = within("longestPause", value, Duration.ofMillis(100));
      return this;
    }

    /**
     * Sets {@link DriverOptions#continuations()}.
     *
     * @param value what runs them
     * @return this builder
     */
    public Builder continuations(Executor value) {
      continuations = Objects.requireNonNull(value);
      return this;
    }

    /**
     * Sets what makes the driver's thread.
     *
     * @param value is asked once, for a thread that is not started and no virtual one
     * @return this builder
     */
    public Builder threadFactory(ThreadFactory value) {
      threadFactory = Objects.requireNonNull(value);
      return this;
    }

    /** {@return the options} */
    public DriverOptions build() {
      return new DriverOptions(this);
    }

    private static int within(String what, int value, int least, int most) {
      if (value < least || value > most) {
        throw new IllegalArgumentException(
            "%s must be %d to %d, is %d".formatted(what, least, most, value));
      }
      return value;
    }

    private static Duration within(String what, Duration value, Duration most) {
      if (value.isNegative() || value.compareTo(most) > 0) {
        throw new IllegalArgumentException(
            "%s must be 0 to %s, is %s".formatted(what, most, value));
      }
      return value;
    }
  }
}

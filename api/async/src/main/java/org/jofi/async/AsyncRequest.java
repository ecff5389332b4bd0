package org.jofi.async;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import org.jofi.transport.FailureCause;
import org.jofi.transport.TransportException;

/**
 * A request that was submitted to a driver: the future of the number of bytes it moved, as {@link
 * org.jofi.transport.Comm#test} reports them. If it failed, its exception is a {@link
 * TransportException}; or what the posting call threw of a misuse that only it can see, such as an
 * arena that was closed meanwhile: {@link IllegalStateException} or {@link
 * IllegalArgumentException}. Once it is done, the memory is the caller's again, and not before;
 * unless the close of its communicator fails with {@link FailureCause#TIMED_OUT}, since a NIC kept
 * the operation: the memory then has to stay until the transport is closed. Any thread.
 *
 * <p>Only the driver implements it, so that it may get further methods.
 */
public interface AsyncRequest extends Future<Long> {

  /**
   * Waits for it, as {@link #get} does, and throws its failure as it is.
   *
   * @param timeout how long, 0 or more; 0 only looks
   * @return the number of bytes
   * @throws TransportException if it failed, with its cause; {@link FailureCause#TIMED_OUT} if it
   *     is not over after the time-out, and {@link FailureCause#INTERRUPTED} if this thread is
   *     interrupted, which it stays. In both of these cases the request goes on
   * @throws java.util.concurrent.CancellationException if it was cancelled
   * @throws IllegalArgumentException if the timeout is negative
   * @throws IllegalStateException on the driver's own thread, which would wait for itself
   */
  long await(Duration timeout);

  /**
   * Takes the request back if that is still possible: if it was not posted yet, or is a send that
   * waits for its receive. It asks the driver and waits for the answer, which takes as long as what
   * the driver is at, and 10 s at most. An interrupt does not end the wait.
   *
   * @param mayInterruptIfRunning is ignored: what moves already cannot be stopped but by {@link
   *     AsyncComm#abortAsync}
   * @return true if it is cancelled: nothing of it is sent, and its memory is the caller's again.
   *     False if it could not be cancelled: it is over, or goes on
   */
  @Override
  boolean cancel(boolean mayInterruptIfRunning);

  /**
   * Makes a future for what is to happen once the request is over, which {@link
   * DriverOptions#continuations()} runs and never the driver's thread. Completing or cancelling
   * that future, or a time limit of it, does not touch the request.
   *
   * @return a new future, which ends as the request does
   */
  CompletableFuture<Long> toCompletableFuture();
}

package org.jofi.async;

import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jofi.transport.Comm;
import org.jofi.transport.CommState;
import org.jofi.transport.ConnectAttempt;
import org.jofi.transport.ConnectHandle;
import org.jofi.transport.Device;
import org.jofi.transport.FailureCause;
import org.jofi.transport.ListenComm;
import org.jofi.transport.RecvComm;
import org.jofi.transport.SendComm;
import org.jofi.transport.TransportException;
import org.jspecify.annotations.Nullable;

/**
 * A thread that owns communicators of a device and drives them. Any thread. {@linkplain
 * org.jofi.async The package} says what holds of order, back-pressure, memory and threads.
 *
 * <p>A driver is closed before its transport. If the transport is closed first, the requests in
 * flight fail with {@link FailureCause#CLOSED}, and the driver still has to be closed.
 */
public final class Driver implements AutoCloseable {
  private final DriverThread thread;
  private final AtomicBoolean closeAsked = new AtomicBoolean();
  private final AtomicBoolean problemTold = new AtomicBoolean();

  private Driver(DriverThread thread) {
    this.thread = thread;
  }

  /**
   * Starts a driver with {@link DriverOptions#defaults()}.
   *
   * @param device whose communicators it will own
   * @return the driver, which the caller closes
   * @throws TransportException with {@link FailureCause#EXHAUSTED} if there can be no more threads
   */
  public static Driver start(Device device) {
    return start(device, DriverOptions.defaults());
  }

  /**
   * Starts a driver. It polls nothing until it owns something.
   *
   * @param device whose communicators it will own
   * @param options how it works
   * @return the driver, which the caller closes
   * @throws TransportException with {@link FailureCause#EXHAUSTED} if there can be no more threads
   * @throws IllegalArgumentException if the options' thread factory makes no platform thread
   */
  public static Driver start(Device device, DriverOptions options) {
    DriverThread thread =
        new DriverThread(Objects.requireNonNull(device), Objects.requireNonNull(options));
    thread.start();
    return new Driver(thread);
  }

  /**
   * Takes a communicator over. From here on the driver alone uses it, and closes it.
   *
   * @param comm one of the driver's device, open, without requests in flight, and added to no
   *     poller
   * @return what others use of it from now on
   * @throws IllegalArgumentException if it is another device's, or is added to a poller, as of this
   *     or another driver
   * @throws IllegalStateException if it or the driver is closed; it stays the caller's then
   * @throws TransportException with {@link FailureCause#TIMED_OUT} if the driver does not come to
   *     it within 10 s; it stays the caller's then
   */
  public AsyncSender own(SendComm comm) {
    return (AsyncSender) take(comm);
  }

  /**
   * Takes a communicator over, as {@link #own(SendComm)}.
   *
   * @param comm one of the driver's device, open, without requests in flight, and added to no
   *     poller
   * @return what others use of it from now on
   */
  public AsyncReceiver own(RecvComm comm) {
    return (AsyncReceiver) take(comm);
  }

  private OwnedComm take(Comm comm) {
    if (!thread.device().equals(comm.device())) {
      throw new IllegalArgumentException(
          "%s is of another device than %s".formatted(comm.label(), thread.thread().getName()));
    }
    Question<OwnedComm> taking =
        new Question<>() {
          @Override
          OwnedComm answer() {
            checkOpen(comm);
            return thread.adopt(comm);
          }

          @Override
          OwnedComm unanswered(@Nullable TransportException why) {
            if (why != null) {
              throw new IllegalStateException(why.getMessage(), why);
            }
            throw new TransportException(
                FailureCause.TIMED_OUT,
                "%s did not come to %s within 10 s"
                    .formatted(thread.thread().getName(), comm.label()));
          }
        };
    return taking.ask(thread);
  }

  private void checkOpen(Comm comm) {
    TransportException refusal = thread.refusal();
    if (refusal != null) {
      throw new IllegalStateException(refusal.getMessage(), refusal);
    }
    CommState state = comm.state();
    if (state == CommState.CLOSED || state == CommState.CLOSING) {
      throw new IllegalStateException(comm.label() + " is closed");
    }
  }

  /**
   * Connects to a listener, and owns the connection.
   *
   * <p>The calling thread opens the device's endpoint if that was not done yet; all else is the
   * driver's. The time limit is the transport's. To give up before, complete the future, by
   * cancelling it or by a time limit of its own.
   *
   * @param handle the handle of the listener
   * @return the connection; or it fails as {@link ConnectAttempt#poll} and {@link Device#connect}
   *     do, with {@link TransportException}
   */
  public CompletableFuture<AsyncSender> connect(ConnectHandle handle) {
    TransportException refusal = thread.refusal();
    if (refusal != null) {
      return CompletableFuture.failedFuture(refusal);
    }
    ConnectAttempt attempt;
    try {
      attempt = thread.device().connect(handle);
    } catch (TransportException e) {
      return CompletableFuture.failedFuture(e);
    }
    var connecting = new PendingConnections.Connecting(thread, attempt);
    thread.push(connecting);
    return connecting.future;
  }

  /**
   * Accepts the next connection of a listener, and owns it. Those who wait at one listener get its
   * connections in the order in which they came. There is no time limit: to give up, complete the
   * future, by cancelling it or by a time limit of its own. A connection that was made at that very
   * moment is closed.
   *
   * @param listener of the driver's device; it stays the caller's
   * @return the connection; or it fails with {@link FailureCause#CLOSED} if the listener or the
   *     driver is closed, and as {@link ListenComm#accept} does
   * @throws IllegalArgumentException if it is another device's
   */
  public CompletableFuture<AsyncReceiver> accept(ListenComm listener) {
    if (!thread.device().equals(listener.device())) {
      throw new IllegalArgumentException(
          "%s is of another device than %s"
              .formatted(listener.handle(), thread.thread().getName()));
    }
    TransportException refusal = thread.refusal();
    if (refusal != null) {
      return CompletableFuture.failedFuture(refusal);
    }
    var accepting = new PendingConnections.Accepting(thread, listener);
    thread.push(accepting);
    return accepting.future;
  }

  /**
   * {@return the error that ended its thread, after which all it owned is aborted; empty if none}
   */
  public Optional<Throwable> failure() {
    return Optional.ofNullable(thread.failure());
  }

  /**
   * Closes all that it owns, at once, as {@link AsyncComm#closeAsync}; connections that are being
   * made are given up. Then its thread ends. It does not wait. A second call changes nothing.
   *
   * @return is done when its thread has ended; each call returns a future of its own
   */
  public CompletableFuture<Void> closeAsync() {
    if (closeAsked.compareAndSet(false, true)) {
      thread.close();
    }
    return thread.continuations().follow(thread.ended());
  }

  /**
   * As {@link #closeAsync}, and waits for it, for {@link DriverOptions#closeTimeout()} at most; an
   * interrupt does not end the wait. A second call waits as well.
   *
   * @throws TransportException with {@link FailureCause#TIMED_OUT} if something is not closed yet:
   *     it goes on; or what a communicator could not be closed for, once
   * @throws IllegalStateException on the driver's own thread
   */
  @Override
  public void close() {
    thread.checkMayWait(thread.ended());
    if (closeAsked.compareAndSet(false, true)) {
      thread.close();
    }
    if (!Waiting.isDone(thread.ended(), thread.options().closeTimeout().toNanos())) {
      throw new TransportException(
          FailureCause.TIMED_OUT,
          "%s: %d communicators are not closed within %s; that goes on. Call again to wait for it"
              .formatted(
                  thread.thread().getName(), thread.stillOpen(), thread.options().closeTimeout()));
    }
    Throwable problem = thread.problem();
    if (problem != null && problemTold.compareAndSet(false, true)) {
      throw problem instanceof TransportException known
          ? known
          : new TransportException(
              FailureCause.FABRIC, thread.thread().getName() + ": a close failed", problem);
    }
  }
}

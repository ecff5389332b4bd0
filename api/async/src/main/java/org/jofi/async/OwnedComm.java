package org.jofi.async;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import org.jofi.transport.Comm;
import org.jofi.transport.CommState;
import org.jofi.transport.Device;
import org.jofi.transport.FailureCause;
import org.jofi.transport.Memory;
import org.jofi.transport.Registration;
import org.jofi.transport.RemoteMemory;
import org.jofi.transport.Result;
import org.jofi.transport.SendComm;
import org.jofi.transport.TransportException;
import org.jofi.transport.Use;
import org.jspecify.annotations.Nullable;

/**
 * A communicator of the driver's. The driver's thread uses it, until it hands it to a thread of its
 * own that closes it, since that may take seconds.
 */
abstract class OwnedComm implements AsyncComm {
  final DriverThread driver;
  private final Comm comm;
  private final String label;
  private final long maxMessageBytes;
  final Lane messages;
  final Lane others;
  private final AtomicBoolean closeAsked = new AtomicBoolean();
  private final CompletableFuture<Void> closed = new CompletableFuture<>();

  // By the driver's thread alone, and then by the one that closes it.
  private final InFlight inFlight = new InFlight();
  private boolean closing;

  OwnedComm(DriverThread driver, Comm comm) {
    this.driver = driver;
    this.comm = comm;
    label = comm.label();
    maxMessageBytes = comm.device().properties().limits().maxMessageBytes();
    messages = new Lane(this, driver.options().waitingRequests());
    others = new Lane(this, driver.options().waitingRequests());
  }

  Comm comm() {
    return comm;
  }

  @Override
  public final Device device() {
    return comm.device();
  }

  @Override
  public final String label() {
    return label;
  }

  @Override
  public final Registration register(Memory memory, Use first, Use... more) {
    return comm.register(memory, first, more);
  }

  @Override
  public final AsyncRequest write(
      MemorySegment from, long offset, long lengthBytes, RemoteMemory to, long remoteOffset) {
    check(from, offset, lengthBytes);
    Objects.requireNonNull(to);
    return submit(others, () -> comm.iwrite(from, offset, lengthBytes, to, remoteOffset));
  }

  @Override
  public final AsyncRequest write(
      Registration from, long offset, long lengthBytes, RemoteMemory to, long remoteOffset) {
    Objects.requireNonNull(from);
    Objects.requireNonNull(to);
    return submit(others, () -> comm.iwrite(from, offset, lengthBytes, to, remoteOffset));
  }

  @Override
  public final AsyncRequest read(
      MemorySegment into, long offset, long lengthBytes, RemoteMemory from, long remoteOffset) {
    checkWritable(into, offset, lengthBytes);
    Objects.requireNonNull(from);
    return submit(others, () -> comm.iread(into, offset, lengthBytes, from, remoteOffset));
  }

  @Override
  public final AsyncRequest read(
      Registration into, long offset, long lengthBytes, RemoteMemory from, long remoteOffset) {
    Objects.requireNonNull(into);
    Objects.requireNonNull(from);
    return submit(others, () -> comm.iread(into, offset, lengthBytes, from, remoteOffset));
  }

  /** Refuses what only a call of this thread can explain to its caller. */
  final void check(MemorySegment segment, long offset, long lengthBytes) {
    if (!segment.isNative()) {
      throw new IllegalArgumentException(
          "%s: %s is on the Java heap, which no NIC reaches: allocate it from an arena"
              .formatted(label, segment));
    }
    if (!segment.isAccessibleBy(driver.thread())) {
      throw new IllegalArgumentException(
          "%s: %s is confined to its thread, and the driver's posts: use Transport.openArena, or Arena.ofShared"
              .formatted(label, segment));
    }
    if (offset < 0 || lengthBytes < 0 || offset > segment.byteSize() - lengthBytes) {
      throw new IllegalArgumentException(
          "%s: %d bytes at offset %d are not within %s"
              .formatted(label, lengthBytes, offset, segment));
    }
    if (lengthBytes > maxMessageBytes) {
      throw new IllegalArgumentException(
          "%s moves 0 to %d bytes at once, not %d".formatted(label, maxMessageBytes, lengthBytes));
    }
  }

  final void checkWritable(MemorySegment segment, long offset, long lengthBytes) {
    check(segment, offset, lengthBytes);
    if (segment.isReadOnly()) {
      throw new IllegalArgumentException("%s: %s is read-only".formatted(label, segment));
    }
  }

  final AsyncRequest submit(Lane lane, LongSupplier post) {
    Transfer transfer = new Transfer(lane, post);
    transfer.submit(driver);
    return transfer;
  }

  /** Posts it, or has it wait behind those that came before it. */
  final void post(Transfer transfer, Lane lane) {
    if (closing) {
      transfer.refuse(closedBefore());
    } else if (!lane.isEmpty() || !transfer.post()) {
      lane.add(transfer);
      driver.stalled(lane);
    }
  }

  private TransportException closedBefore() {
    return new TransportException(
        FailureCause.CLOSED, label + ": closed before the request was posted");
  }

  /** It is with the network now. */
  final void posted(Transfer transfer) {
    transfer.cookie = inFlight.add(transfer);
    comm.withCookie(transfer.request(), transfer.cookie);
  }

  /** A request is over, which may be one that was posted before the driver owned it. */
  final void over(long request, long cookie, long result) {
    Transfer transfer = inFlight.of(cookie);
    if (transfer != null && transfer.request() == request) {
      inFlight.remove(cookie);
      end(transfer, result, null);
    }
  }

  private void end(Transfer transfer, long result, @Nullable TransportException instead) {
    if (result >= 0) {
      transfer.complete(result);
    } else if (instead != null) {
      transfer.fail(instead);
    } else {
      try {
        Result.check(comm, transfer.request(), result);
      } catch (RuntimeException failure) {
        transfer.fail(failure);
      }
    }
  }

  /** Takes back a send that waits for its receive. */
  final boolean takeBack(Transfer transfer) {
    boolean taken = false;
    if (!closing && comm instanceof SendComm sender) {
      try {
        taken = sender.cancel(transfer.request());
      } catch (IllegalStateException closedByItsTransport) {
        return false;
      }
      if (taken) {
        inFlight.remove(transfer.cookie);
      }
    }
    return taken;
  }

  /** What a posting call threw, as its request's failure. */
  final RuntimeException asFailure(RuntimeException thrown) {
    CommState state = comm.state();
    return thrown instanceof IllegalStateException
            && (state == CommState.CLOSED || state == CommState.CLOSING)
        ? new TransportException(FailureCause.CLOSED, label + ": closed with its transport", thrown)
        : thrown;
  }

  @Override
  public final CompletableFuture<Void> closeAsync() {
    return end(false);
  }

  @Override
  public final CompletableFuture<Void> abortAsync() {
    return end(true);
  }

  private CompletableFuture<Void> end(boolean abort) {
    if (closeAsked.compareAndSet(false, true)) {
      driver.push(
          new Command() {
            @Override
            void carryOut() {
              startClosing(abort, null);
            }

            @Override
            void refuse(TransportException why) {
              // The driver, which ends, closes it.
            }
          });
    }
    return driver.continuations().follow(closed);
  }

  /**
   * On the driver's thread: gives it to another one, which closes it.
   *
   * @param why what its requests fail with; null for what they end with by themselves
   */
  final void startClosing(boolean abort, @Nullable TransportException why) {
    if (closing) {
      return;
    }
    closing = true;
    TransportException before = why == null ? closedBefore() : why;
    messages.refuseAll(before);
    others.refuseAll(before);
    driver.forget(this);
    Runnable close = () -> close(abort, why);
    try {
      Thread.ofVirtual().name("jofi-close").start(close);
    } catch (OutOfMemoryError none) {
      close.run();
    }
  }

  private void close(boolean abort, @Nullable TransportException why) {
    Throwable problem = null;
    try {
      if (abort) {
        comm.abort();
      } else {
        comm.close();
      }
    } catch (RuntimeException | Error e) {
      problem = e;
    }
    try {
      for (Transfer transfer : inFlight.removeAll()) {
        if (transfer != null) {
          endAfterClose(transfer, why);
        }
      }
    } finally {
      if (problem == null) {
        closed.complete(null);
      } else {
        closed.completeExceptionally(problem);
      }
      driver.closed(problem);
    }
  }

  private void endAfterClose(Transfer transfer, @Nullable TransportException why) {
    try {
      long result = comm.test(transfer.request());
      boolean unknown = result == Result.IN_PROGRESS || result == Result.STALE_REQUEST;
      end(
          transfer,
          result,
          unknown && why == null
              ? new TransportException(
                  FailureCause.CLOSED, label + ": closed, and the NIC did not say how it ended")
              : why);
    } catch (RuntimeException | Error e) {
      transfer.fail(e);
    }
  }

  @Override
  public final String toString() {
    return label;
  }
}

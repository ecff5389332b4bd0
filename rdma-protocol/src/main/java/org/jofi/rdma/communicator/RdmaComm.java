package org.jofi.rdma.communicator;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.MemoryKind;
import org.jofi.mr.teardown.CloseSteps;
import org.jofi.rdma.connect.Connection;
import org.jofi.rdma.device.DeviceEndpoint;
import org.jofi.rdma.device.EndpointLock;
import org.jofi.rdma.operation.OperationSink;
import org.jofi.transport.Comm;
import org.jofi.transport.CommState;
import org.jofi.transport.Device;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.jofi.transport.Memory;
import org.jofi.transport.RailStatus;
import org.jofi.transport.Registration;
import org.jofi.transport.RemoteMemory;
import org.jofi.transport.Result;
import org.jofi.transport.TransportException;
import org.jofi.transport.Use;
import org.jofi.transport.driven.DrivenComm;
import org.jspecify.annotations.Nullable;

/** What sending and receiving communicators have in common. */
abstract class RdmaComm implements DrivenComm {
  final RdmaDevice device;
  final DeviceEndpoint endpoint;
  final EndpointLock lock;

  private final Connection connection;
  private final long maxMessageBytes;
  private final String label;
  private final EndpointLock.Tester tester = new EndpointLock.Tester();
  private final OneSidedCalls oneSided;
  final CommMemory memory;
  final RequestCookies cookies = new RequestCookies();
  final Callers callers;
  final RequestEvents events;
  // Guarded by the endpoint's lock, as the next.
  private final List<Runnable> tasks = new ArrayList<>(0);
  private @Nullable RdmaPoller poller;
  // Written with the endpoint's lock held, as the next.
  private volatile CommState closing = CommState.OPEN;
  private long closingSince;

  RdmaComm(
      RdmaDevice device,
      DeviceEndpoint endpoint,
      Connection connection,
      String role,
      int stagedAtOnce) {
    this.device = device;
    this.endpoint = endpoint;
    this.connection = connection;
    lock = endpoint.lock;
    maxMessageBytes = device.properties().limits().maxMessageBytes();
    oneSided = new OneSidedCalls(this, connection);
    label =
        "%s %d of %s, peer's %d"
            .formatted(role, connection.id().from(), endpoint.driver.label(), connection.id().to());
    callers = new Callers(label);
    events = new RequestEvents(this, device.environment.clock());
    memory = new CommMemory(this, device, connection, stagedAtOnce);
    device.open.add(this);
  }

  @Override
  public final Device device() {
    return device;
  }

  @Override
  public final String label() {
    return label;
  }

  @Override
  public final CommState state() {
    CommState now = closing;
    return now == CommState.OPEN && failure().isPresent() ? CommState.FAILED : now;
  }

  @Override
  public final Optional<Failure> failure() {
    try (var _ = lock.rare()) {
      return Optional.ofNullable(connection.failure());
    }
  }

  @Override
  public final List<RailStatus> rails() {
    try (var _ = lock.rare()) {
      checkOpen();
      OperationSink sink = connection.link.sink;
      return IntStream.range(0, sink.endpoint().dataRails()).mapToObj(sink::rail).toList();
    }
  }

  final Connection connection() {
    return connection;
  }

  /** Whether memory of that kind is flushed when something was received into it. */
  abstract boolean flushes(MemoryKind kind);

  abstract long blockAccess();

  /** What its messages are to this side. */
  abstract String messages();

  final void checkOpen() {
    if (closing != CommState.OPEN) {
      throw new IllegalStateException(label + " is closed");
    }
  }

  final boolean isClosed() {
    return closing == CommState.CLOSED;
  }

  /** Whether a message may be so long. */
  final boolean isMessage(long lengthBytes) {
    return lengthBytes >= 0 && lengthBytes <= maxMessageBytes;
  }

  final void checkLength(long lengthBytes) {
    if (!isMessage(lengthBytes)) {
      throw new IllegalArgumentException(
          "%s moves 0 to %d bytes at once, not %d".formatted(label, maxMessageBytes, lengthBytes));
    }
  }

  @Override
  public final Registration register(Memory what, Use first, Use... more) {
    Objects.requireNonNull(what);
    checkOpen();
    return memory.register(what, EnumSet.of(first, more));
  }

  @Override
  public final long iwrite(
      MemorySegment from, long offset, long lengthBytes, RemoteMemory to, long remoteOffset) {
    return oneSided.move(false, from, offset, lengthBytes, to, remoteOffset);
  }

  @Override
  public final long iwrite(
      Registration from, long offset, long lengthBytes, RemoteMemory to, long remoteOffset) {
    return oneSided.move(false, from, offset, lengthBytes, to, remoteOffset);
  }

  @Override
  public final long iwriteInline(
      MemorySegment from, long offset, long lengthBytes, RemoteMemory to, long remoteOffset) {
    return oneSided.writeInline(from, offset, lengthBytes, to, remoteOffset);
  }

  @Override
  public final long iread(
      MemorySegment into, long offset, long lengthBytes, RemoteMemory from, long remoteOffset) {
    return oneSided.move(true, into, offset, lengthBytes, from, remoteOffset);
  }

  @Override
  public final long iread(
      Registration into, long offset, long lengthBytes, RemoteMemory from, long remoteOffset) {
    return oneSided.move(true, into, offset, lengthBytes, from, remoteOffset);
  }

  @Override
  public final long withCookie(long request, long cookie) {
    cookies.put(request, cookie);
    return request;
  }

  @Override
  public final long test(long request) {
    return result(request, null);
  }

  /** As {@link Comm#test}; if it is done, with the lengths of its messages, if they are wanted. */
  final long result(long request, long @Nullable [] lengths) {
    try (var _ = callers.call()) {
      if (request == Result.NOTHING_TO_DO) {
        return 0;
      }
      long result = pollWithProgress(request, lengths);
      if (result == Result.IN_PROGRESS) {
        memory.grow();
      }
      return result;
    }
  }

  private long pollWithProgress(long request, long @Nullable [] lengths) {
    try (var hold = lock.testing(tester, request)) {
      if (hold == null) {
        return Result.IN_PROGRESS;
      }
      long result = report(request, lengths);
      if (result == Result.IN_PROGRESS && !isClosed()) {
        endpoint.help();
        result = report(request, lengths);
      }
      return result;
    }
  }

  /** Records a request that was posted, and what it uses. With the endpoint's lock held. */
  final long posted(long request, Object used) {
    memory.uses.add(request, used);
    events.posted(request);
    return request;
  }

  long poll(long request, long @Nullable [] lengths) {
    return connection.test(request);
  }

  /** Lists requests as they become over, for a poller, unless another one has it. */
  final void list(RdmaPoller by) {
    try (var _ = lock.rare()) {
      if (poller != null) {
        throw new IllegalArgumentException(
            label + (by.equals(poller) ? " is added already" : " is added to another poller"));
      }
      poller = by;
      connection.list(true);
    }
  }

  final void stopListing() {
    try (var _ = lock.rare()) {
      poller = null;
      connection.list(false);
    }
  }

  /** Reports how a request ended that was listed; without progress. */
  final long reported(long request) {
    try (var _ = callers.call();
        var _ = lock.posting()) {
      return report(request, null);
    }
  }

  /** What is told to the caller: lets go of memory that is not used any more. */
  private long report(long request, long @Nullable [] lengths) {
    long result = poll(request, lengths);
    if (result < Result.STALE_REQUEST) {
      events.failed(request);
    }
    if (result >= 0 || (Result.isOver(result) && !connection.usesMemory(request))) {
      memory.uses.over(request);
    }
    return result;
  }

  @Override
  public final Optional<Failure> failure(long request) {
    try (var _ = lock.rare()) {
      return Optional.ofNullable(connection.failure(request));
    }
  }

  @Override
  public final void progress() {
    try (var _ = callers.call()) {
      checkOpen();
      try (var hold = lock.testing(tester)) {
        if (hold == null) {
          return;
        }
        checkOpen();
        endpoint.help();
      }
    }
  }

  @Override
  public final boolean isDriven() {
    return !isClosed() && lock.isDriven();
  }

  @Override
  public final boolean betweenRounds(Runnable task) {
    if (!endpoint.betweenRounds(task)) {
      return false;
    }
    try (var _ = lock.rare()) {
      tasks.add(task);
    }
    return true;
  }

  /** Begins to close it, without waiting; a second call does nothing. Any thread. */
  final void startClosing() {
    begin(endpoint.connections::close);
  }

  private void begin(Consumer<Connection> how) {
    try (var _ = lock.closing()) {
      if (closing == CommState.OPEN) {
        closing = CommState.CLOSING;
        closingSince = device.environment.clock().nanoTime();
        how.accept(connection);
      }
    }
  }

  @Override
  public final void close() {
    end(endpoint.connections::close);
  }

  @Override
  public final void abort() {
    end(endpoint.connections::abort);
  }

  /** As {@link #close}, of its device, which any thread may close, also amid a call of this. */
  final void closeWithDevice() {
    startClosing();
    finish();
  }

  private void end(Consumer<Connection> how) {
    try (var _ = callers.call()) {
      begin(how);
      finish();
    }
  }

  /** Waits until the peer can access no memory of it any more, and deregisters its memory. */
  private void finish() {
    if (closing == CommState.CLOSED) {
      return;
    }
    AwaitedRelease.of(this, closingSince);
    CloseSteps steps = new CloseSteps();
    long user;
    List<Runnable> unused;
    try (var _ = lock.closing()) {
      closing = CommState.CLOSED;
      tasks.forEach(endpoint::removeTask);
      user = memory.uses.user(null);
      unused = memory.end(user != 0 || !connection.isReleased());
    }
    unused.forEach(steps::step);
    device.open.remove(this);
    if (user != 0) {
      throw new TransportException(
          FailureCause.TIMED_OUT,
          ("%s: operations of request 0x%x are still with the NIC %s after the close; its memory"
                  + " must stay until the transport is closed")
              .formatted(label, user, device.options.closeTimeout()));
    }
    try {
      steps.end();
    } catch (FabricException e) {
      throw new TransportException(FailureCause.FABRIC, label + ": " + e.getMessage(), e);
    }
  }

  @Override
  public final String toString() {
    return label;
  }
}

package org.jofi.nccl;

import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jofi.fabric.MemoryKind;
import org.jofi.transport.Comm;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.jofi.transport.Memory;
import org.jofi.transport.Registration;
import org.jofi.transport.Result;
import org.jofi.transport.TransportException;
import org.jofi.transport.Use;
import org.jofi.transport.driven.DrivenComm;
import org.jspecify.annotations.Nullable;

/**
 * A communicator, as NCCL uses it. Any thread. While one thread is in a call, posts and tests of
 * other threads return at once and have to be repeated, while registering and closing wait. Once
 * closing has begun, every call is refused.
 */
abstract sealed class PluginComm implements HandOver.Requester
    permits PluginSendComm, PluginRecvComm {
  final RequestTable requests;

  private final CommGate gate;
  private final AtomicBoolean closing = new AtomicBoolean();
  private final Comm comm;
  private final PluginLog log;

  /** Null if no thread drives its endpoint, as the next. */
  private final @Nullable HandOver handOver;

  private final @Nullable DrivenComm driven;

  private final Set<Long> regions = new HashSet<>();
  private boolean failureTold;

  /**
   * @param requests its request table, which it uses until it is closed
   * @param gate its lock
   */
  PluginComm(Comm comm, RequestTable requests, CommGate gate, PluginLog log) {
    this.comm = comm;
    this.requests = requests;
    this.gate = gate;
    this.log = log;
    HandOver requestsOfDriver = new HandOver(this);
    driven = comm instanceof DrivenComm with && with.betweenRounds(requestsOfDriver) ? with : null;
    handOver = driven == null ? null : requestsOfDriver;
  }

  /** Whether a post is to be left to the thread that drives the endpoint. */
  final boolean handsOver() {
    HandOver driver = handOver;
    return driver != null && (isDriven() || !driver.isEmpty());
  }

  private boolean isDriven() {
    DrivenComm with = driven;
    return with != null && with.isDriven();
  }

  /**
   * Leaves a request to the thread that drives the endpoint; what it takes is in the request's
   * slot.
   */
  final void handOver(long request) {
    HandOver driver = driver();
    driver.add(requests.find(request));
    driveIfNobodyDoes(driver);
  }

  /**
   * Refuses at once what the transport would refuse only when it is posted.
   *
   * @throws IllegalArgumentException if a range leaves its region; one of no bytes never does
   */
  static void checkWithin(Registration registration, long offset, long lengthBytes) {
    long most = registration.memory().lengthBytes();
    if (lengthBytes < 0 || (lengthBytes > 0 && (offset < 0 || offset > most - lengthBytes))) {
      throw new IllegalArgumentException(
          "%d bytes at offset %d are not within %s".formatted(lengthBytes, offset, registration));
    }
    if (lengthBytes > PropertiesStruct.MOST_MESSAGE_BYTES) {
      throw new IllegalArgumentException(
          "%d bytes are more than the %d that a message may have"
              .formatted(lengthBytes, PropertiesStruct.MOST_MESSAGE_BYTES));
    }
  }

  private HandOver driver() {
    HandOver driver = handOver;
    if (driver == null) {
      throw new IllegalStateException(label() + ": no thread drives it");
    }
    return driver;
  }

  private void driveIfNobodyDoes(HandOver driver) {
    if (!isDriven()) {
      driver.run();
    }
  }

  /** What the request in a slot came to. */
  private long poll(int slot) {
    long id = requests.id(slot);
    if (id != HandOver.HANDED_OVER) {
      return test(slot, id);
    }
    HandOver driver = driver();
    long result;
    try {
      result = driver.result(slot);
    } catch (RuntimeException refused) {
      requests.remove(slot);
      throw refused;
    }
    if (result == Result.IN_PROGRESS) {
      driveIfNobodyDoes(driver);
    }
    return result;
  }

  /**
   * Enters a call, unless another thread is in one. Call {@link #leave} at its end.
   *
   * @throws IllegalArgumentException if it is closed, or being closed; nobody entered then
   */
  final boolean tryEnter() {
    checkOpen();
    if (!gate.tryEnter()) {
      return false;
    }
    leaveIfClosing();
    return true;
  }

  /**
   * Enters a call, waiting if another thread is in one. Call {@link #leave} at its end.
   *
   * @throws IllegalArgumentException if it is closed, or being closed; nobody entered then
   * @throws IllegalStateException if the other thread does not leave in time
   */
  final void enter() {
    checkOpen();
    gate.enter();
    leaveIfClosing();
  }

  /** Ends a call. */
  final void leave() {
    gate.leave();
  }

  private void leaveIfClosing() {
    if (closing.get()) {
      gate.leave();
      checkOpen();
    }
  }

  private void checkOpen() {
    if (closing.get()) {
      throw new IllegalArgumentException(label() + " is closed, or being closed");
    }
  }

  /** Its name in error messages. */
  final String label() {
    return comm.label();
  }

  /** Writes the lengths of the request in a slot, which is done with the given result. */
  abstract void putSizes(int slot, long result, long sizes);

  /**
   * Tests a request.
   *
   * @param done address of an int
   * @param sizes address of one int per receive of the request, or 0
   * @return an ncclResult_t
   * @throws IllegalArgumentException if there is no such request
   */
  final int test(long request, long done, long sizes) {
    RawMemory.putInt(done, 0);
    if (!tryEnter()) {
      return NcclResult.SUCCESS;
    }
    try {
      int slot = requests.find(request);
      if (slot == RequestTable.NONE) {
        throw new IllegalArgumentException(
            "0x%x is no request of %s: it was reported already".formatted(request, label()));
      }
      long result = poll(slot);
      if (result == Result.IN_PROGRESS) {
        return NcclResult.SUCCESS;
      }
      if (result < 0) {
        return fail(slot, result);
      }
      if (sizes != 0) {
        putSizes(slot, result, sizes);
      }
      requests.remove(slot);
      RawMemory.putInt(done, 1);
      return NcclResult.SUCCESS;
    } finally {
      leave();
    }
  }

  @Override
  public String explain(int slot, long id, long result) {
    return comm.failure(id)
        .map(Failure::toString)
        .orElseGet(() -> comm.label() + ": " + Result.describe(result));
  }

  /**
   * Ends a failed request. The first reason of a communicator is logged as a warning, later ones as
   * information.
   */
  private int fail(int slot, long result) {
    long id = requests.id(slot);
    String reason = id == HandOver.HANDED_OVER ? driver().failure(slot) : explain(slot, id, result);
    requests.remove(slot);
    if (failureTold) {
      log.info(reason);
    } else {
      failureTold = true;
      log.warn(reason);
    }
    return FailureCause.isFailure(result)
        ? NcclResult.ofRequest(FailureCause.of(result))
        : NcclResult.INTERNAL_ERROR;
  }

  /** What it registers memory for. */
  abstract Use use();

  /**
   * Registers memory. Another thread may be in a call meanwhile, since NICs may take long to
   * register and the transport allows any thread to do so.
   *
   * @param self this communicator's handle
   * @return the region's handle
   * @throws IllegalArgumentException if it is closed, or being closed
   * @throws TransportException if the NICs refuse it. GPU memory is not staged through host memory
   *     then
   */
  final long register(long self, Memory memory, HandleTable<Region> table) {
    checkOpen();
    Registration registration;
    try {
      registration = comm.register(memory, use());
    } catch (IllegalStateException closed) {
      checkOpen();
      throw closed;
    }
    try {
      checkReached(registration);
      return keep(new Region(self, registration), table);
    } catch (RuntimeException refused) {
      registration.close();
      throw refused;
    }
  }

  /**
   * Refuses GPU memory that the transport would stage through host memory. NCCL passes GPU memory
   * because the device's properties say that NICs can access it. Staged memory does not work for
   * grouped receives, and NCCL's own path through host memory is better.
   */
  private void checkReached(Registration registration) {
    if (registration.memory().kind() == MemoryKind.HOST || !registration.isStaged()) {
      return;
    }
    checkOpen();
    throw new TransportException(
        FailureCause.FABRIC,
        ("%s: the NICs do not reach the GPU's memory: %s. Load nvidia_peermem, or run a kernel and a"
                + " driver with dma-buf; or set NCCL_NET_GDR_LEVEL=LOC, and NCCL copies through host"
                + " memory itself")
            .formatted(label(), registration.path()));
  }

  private long keep(Region region, HandleTable<Region> table) {
    enter();
    try {
      long handle = table.add(ignored -> region);
      regions.add(handle);
      return handle;
    } finally {
      leave();
    }
  }

  /**
   * Deregisters memory. NCCL does this with requests in flight only when it tears a communicator
   * down, and frees the memory next. In this case the communicator is aborted first, so that no NIC
   * accesses the memory any more.
   */
  final void deregister(long handle, HandleTable<Region> table) {
    enter();
    try {
      Registration registration = table.remove(handle).registration();
      regions.remove(handle);
      try {
        registration.close();
      } catch (IllegalStateException inUse) {
        log.info(
            "%s is aborted, since its memory goes away: %s".formatted(label(), inUse.getMessage()));
        abort();
      }
    } finally {
      leave();
    }
  }

  private void abort() {
    try {
      comm.abort();
    } catch (TransportException left) {
      log.warn(String.valueOf(left.getMessage()));
    }
  }

  /**
   * Closes it, with its requests and regions. What the transport cannot end in time, it ends when
   * it is closed itself; NCCL can do nothing about it and goes on.
   *
   * @param closed is run when all of that is done, on this thread or, if another thread stays in a
   *     call, on a thread that waits for that one
   * @throws IllegalArgumentException if it is closed, or being closed
   * @throws IllegalStateException if another thread stays in a call; it is closed when that thread
   *     leaves
   */
  final void close(HandleTable<Region> table, Runnable closed) {
    if (!closing.compareAndSet(false, true)) {
      checkOpen();
    }
    try {
      gate.enter();
    } catch (IllegalStateException occupied) {
      Thread.ofPlatform()
          .daemon()
          .name("jofi-nccl-close")
          .start(
              () -> {
                gate.await();
                try {
                  closeInside(table, closed);
                } catch (RuntimeException failed) {
                  log.warn(failed.toString());
                }
              });
      throw occupied;
    }
    closeInside(table, closed);
  }

  private void closeInside(HandleTable<Region> table, Runnable closed) {
    try {
      regions.forEach(table::remove);
      regions.clear();
      HandOver driver = handOver;
      if (driver != null) {
        driver.end();
      }
      requests.clear();
      comm.close();
    } catch (TransportException left) {
      log.warn(String.valueOf(left.getMessage()));
    } finally {
      gate.leave();
      closed.run();
    }
  }
}

package org.jofi.libfabric;

import java.util.ArrayDeque;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntSupplier;
import org.jofi.fabric.AddressVector;
import org.jofi.fabric.CompletionError;
import org.jofi.fabric.CompletionFlags;
import org.jofi.fabric.CompletionQueue;
import org.jofi.fabric.Domain;
import org.jofi.fabric.Endpoint;
import org.jofi.fabric.EndpointRequest;
import org.jofi.fabric.FabricErrno;
import org.jspecify.annotations.Nullable;

/** An endpoint with a queue and peers of its own. One thread at a time. */
final class Station implements AutoCloseable, CompletionQueue.Sink {
  static final int SLOTS = 16;
  private static final long BOUND_NS = 20_000_000_000L;
  private static final long REST_NS = 20_000;

  final Domain domain;
  final AddressVector peers;
  final CompletionQueue queue;
  final Endpoint endpoint;
  private final String name;
  private final ArrayDeque<Integer> received = new ArrayDeque<>();
  private final boolean[] completed = new boolean[SLOTS];
  private @Nullable AssertionError failure;

  Station(String name, Domain domain) {
    this.name = name;
    this.domain = domain;
    peers = domain.openAddressVector(1);
    queue = domain.openCompletionQueue(256, SLOTS);
    endpoint = domain.openEndpoint(EndpointRequest.of(name, peers, queue));
  }

  @Override
  public void completed(int context, long flags, long lengthBytes, long data) {
    completed[context] = true;
    if ((flags & CompletionFlags.RECV) != 0) {
      received.add(context);
    }
  }

  @Override
  public void failed(CompletionError error) {
    failure = new AssertionError(name + ": a sound operation failed", error.toException());
  }

  /** Polls once. */
  void poll() {
    int events = queue.poll(this, SLOTS);
    if (events < 0) {
      throw new AssertionError("%s: its queue failed with %d".formatted(name, events));
    }
    if (failure != null) {
      throw failure;
    }
  }

  /** The slot of the next receive that is complete, or null. */
  @Nullable Integer takeReceived() {
    return received.poll();
  }

  /** Posts, polling this and the other until there is room. */
  void post(String what, Station other, int slot, IntSupplier call) {
    completed[slot] = false;
    long deadline = System.nanoTime() + BOUND_NS;
    int code = call.getAsInt();
    while (code == -FabricErrno.EAGAIN) {
      demandTime(what, deadline);
      poll();
      other.poll();
      rest();
      code = call.getAsInt();
    }
    if (code != 0) {
      throw new AssertionError("%s: %s was refused with %d".formatted(name, what, code));
    }
  }

  /** Polls this and the other until the operation in that slot is complete. */
  void await(String what, Station other, int slot) {
    long deadline = System.nanoTime() + BOUND_NS;
    while (!completed[slot]) {
      demandTime(what, deadline);
      poll();
      other.poll();
      rest();
    }
  }

  /** Leaves the processor to the other threads, which are many. */
  static void rest() {
    LockSupport.parkNanos(REST_NS);
  }

  private void demandTime(String what, long deadline) {
    if (System.nanoTime() - deadline > 0) {
      throw new AssertionError("%s: %s hangs".formatted(name, what));
    }
  }

  @Override
  public void close() {
    endpoint.close();
    queue.close();
    peers.close();
  }
}

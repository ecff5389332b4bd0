package org.jofi.rdma.nic;

import java.lang.System.Logger.Level;
import java.util.Objects;
import org.agrona.collections.IntArrayQueue;
import org.jofi.counters.written.CounterBlock;
import org.jofi.counters.written.CounterType;
import org.jofi.fabric.FabricErrno;
import org.jofi.rdma.memory.RegisteredBuffers;
import org.jofi.rdma.memory.RegisteredBuffers.Buffer;
import org.jofi.rdma.operation.Task;
import org.jofi.rdma.operation.Tasks;
import org.jofi.transport.Failure;
import org.jofi.transport.diagnostics.Log;
import org.jspecify.annotations.Nullable;

/**
 * The receives posted on one control rail. A message is handed on after its queue delivered, and
 * its buffer posted again.
 */
public final class ReceiveBuffers extends Task implements OperationOwner {
  public static final int COUNT = 64;

  private static final Log LOG = new Log(Log.Name.TRANSPORT);

  private final RailPort port;
  private final RegisteredBuffers buffers;
  private final int bufferBytes;
  private final Tasks tasks;
  private final @Nullable Buffer[] taken = new @Nullable Buffer[COUNT];
  private final long[] lengths = new long[COUNT];
  private final IntArrayQueue arrived = new IntArrayQueue(COUNT, -1);
  private final IntArrayQueue idle = new IntArrayQueue(COUNT, -1);
  private boolean stopped;

  /** Whether one of this rail's failed; the counters are the endpoint's. */
  private boolean hasFailed;

  private final CounterBlock counters;

  public ReceiveBuffers(
      RailPort port,
      RegisteredBuffers buffers,
      int bufferBytes,
      Tasks tasks,
      CounterBlock counters) {
    this.counters = counters;
    port.requireSends(bufferBytes);
    this.port = port;
    this.buffers = buffers;
    this.bufferBytes = bufferBytes;
    this.tasks = tasks;
  }

  public void start() {
    for (int i = 0; i < COUNT; i++) {
      taken[i] = buffers.take();
      if (taken[i] != null) {
        idle.addInt(i);
      }
    }
    tasks.submit(this);
  }

  @Override
  protected boolean advance() {
    while (!stopped && !idle.isEmpty()) {
      int index = idle.peekInt();
      Buffer buffer = buffer(index);
      int answer =
          port.receive(
              this, index, buffer.memory().address(), bufferBytes, buffer.descriptor(port.number));
      if (answer == -FabricErrno.EAGAIN) {
        return false;
      }
      if (answer != 0) {
        refused(-answer);
        return false;
      }
      idle.pollInt();
    }
    return true;
  }

  private Buffer buffer(int index) {
    return Objects.requireNonNull(taken[index]);
  }

  /** It is tried again: without its buffers nothing is heard over the rail. */
  private void refused(int errno) {
    if (!hasFailed) {
      LOG.log(
          Level.WARNING,
          "%s: fi_recv is refused, and tried again: %s"
              .formatted(port.label, FabricErrno.name(errno)));
    }
    countFailure();
  }

  private void countFailure() {
    hasFailed = true;
    counters.add(CounterType.RECEIVES_FAILED, 1);
  }

  @Override
  public void completed(long cookie, long lengthBytes) {
    int index = (int) cookie;
    lengths[index] = lengthBytes;
    arrived.addInt(index);
  }

  @Override
  public void failed(long cookie, RailPort failing, Failure why) {
    if (why.errno() != FabricErrno.ECANCELED) {
      countFailure();
    }
    if (!stopped) {
      idle.addInt((int) cookie);
      tasks.defer(this);
    }
  }

  @Override
  public void lost(long cookie, RailPort broken, Failure why) {
    // Nothing arrives over that rail any more.
    stopped = true;
  }

  /** Hands on what arrived, and posts the buffers again. */
  public int deliver(ArrivalSink sink) {
    int delivered = 0;
    while (!arrived.isEmpty()) {
      int index = arrived.pollInt();
      if (lengths[index] > 0) {
        sink.message(buffer(index).memory(), lengths[index]);
        delivered++;
      }
      idle.addInt(index);
    }
    if (!stopped && !idle.isEmpty()) {
      tasks.submit(this);
    }
    return delivered;
  }

  public void stop() {
    stopped = true;
    port.cancelReceives();
  }
}

package org.jofi.cli.perf;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jofi.cli.ranks.RingLinks;
import org.jofi.transport.Registration;
import org.jofi.transport.RemoteMemory;
import org.jofi.transport.Use;
import org.jspecify.annotations.Nullable;

/**
 * The memory of one rank for one length. It has two buffers, each with a slot for every message in
 * flight: the near one is for data that this rank sends, writes from or reads into, and the far one
 * is what the peer sends to, writes to or reads from. Close it when neither rank has requests in
 * flight.
 */
final class PerfMemory implements AutoCloseable {
  private static final long PAGE_BYTES = 4096;
  private static final long LINE_BYTES = 64;

  /** Above this length, messages in flight share slots. */
  private static final long MOST_BYTES = 256 << 20;

  private final long bytes;
  private final long stride;
  private final int slots;
  private final Arena arena = Arena.ofConfined();
  private final MemorySegment nearMemory;
  private final MemorySegment farMemory;
  private final @Nullable Registration near;
  private final @Nullable Registration far;
  private final @Nullable RemoteMemory peersFar;

  /**
   * Allocates memory and registers what is not registered by use; gets the peer's for one-sided
   * operations. Both ranks do this at the same time.
   */
  PerfMemory(RingLinks links, PerfPlan plan, long bytes) {
    int window = plan.window();
    PerfOperation operation = plan.operation();
    boolean exposed = operation == PerfOperation.WRITE || operation == PerfOperation.READ;
    this.bytes = bytes;
    this.stride = stride(bytes);
    this.slots = slots(bytes, window);
    this.nearMemory = arena.allocate(slots * stride, PAGE_BYTES);
    this.farMemory = arena.allocate(slots * stride, PAGE_BYTES);
    near = plan.registersOnce() ? links.toNext().register(nearMemory, Use.SEND, Use.RECEIVE) : null;
    if (exposed) {
      far = links.fromPrevious().register(farMemory, Use.RECEIVE, Use.PEER_READS, Use.PEER_WRITES);
      int peer = 1 - links.ranks().rank();
      peersFar = RemoteMemory.decode(links.gather(far.remote().encode()).get(peer));
    } else {
      boolean registered = plan.registersOnce() || operation == PerfOperation.FLUSH;
      far = registered ? links.fromPrevious().register(farMemory, Use.RECEIVE) : null;
      peersFar = null;
    }
  }

  private static long stride(long bytes) {
    return Math.ceilDiv(bytes, LINE_BYTES) * LINE_BYTES;
  }

  private static int slots(long bytes, int window) {
    // At least two, so that an answer can arrive while the previous one is checked.
    return Math.clamp(MOST_BYTES / stride(bytes), 2, Math.max(2, window));
  }

  /** How many bytes it will allocate. */
  static long bytes(long bytes, int window) {
    return 2L * slots(bytes, window) * stride(bytes);
  }

  long bytes() {
    return bytes;
  }

  int slots() {
    return slots;
  }

  long offset(int message) {
    return message % slots * stride;
  }

  /** Null if it is registered by use. */
  @Nullable Registration near() {
    return near;
  }

  MemorySegment nearMemory() {
    return nearMemory;
  }

  /** Null if it is registered by use. */
  @Nullable Registration far() {
    return far;
  }

  MemorySegment farMemory() {
    return farMemory;
  }

  /** What this rank reads and writes of its peer, one-sidedly. */
  RemoteMemory peersFar() {
    return Objects.requireNonNull(peersFar, "only one-sided operations reach it");
  }

  void fillNear(int pattern) {
    fill(nearMemory, pattern);
  }

  void fillFar(int pattern) {
    fill(farMemory, pattern);
  }

  long wrongNear(int pattern) {
    return wrong(nearMemory, pattern);
  }

  long wrongFar(int pattern) {
    return wrong(farMemory, pattern);
  }

  private void fill(MemorySegment memory, int pattern) {
    for (int slot = 0; slot < slots; slot++) {
      for (long i = 0; i < bytes; i++) {
        memory.set(JAVA_BYTE, slot * stride + i, value(pattern + slot, i));
      }
    }
  }

  private long wrong(MemorySegment memory, int pattern) {
    long wrong = 0;
    for (int slot = 0; slot < slots; slot++) {
      for (long i = 0; i < bytes; i++) {
        if (memory.get(JAVA_BYTE, slot * stride + i) != value(pattern + slot, i)) {
          wrong++;
        }
      }
    }
    return wrong;
  }

  private static byte value(int pattern, long index) {
    return (byte) ((((int) index + pattern * 0x61C8_8647) * 0x9E37_79B1) >>> 21);
  }

  @Override
  public void close() {
    if (near != null) {
      near.close();
    }
    if (far != null) {
      far.close();
    }
    arena.close();
  }
}

package org.jofi.cli.perf;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jofi.cli.ranks.RingLinks;
import org.jofi.transport.Registration;
import org.jofi.transport.RemoteMemory;

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

  private final RingLinks links;
  private final long bytes;
  private final long stride;
  private final int slots;
  private final Arena arena = Arena.ofConfined();
  private final MemorySegment nearMemory;
  private final MemorySegment farMemory;
  private final Registration near;
  private final Registration far;
  private final RemoteMemory peersFar;

  /** Allocates and registers memory, and gets the peer's. Both ranks do this at the same time. */
  PerfMemory(RingLinks links, long bytes, int window) {
    this.links = links;
    this.bytes = bytes;
    this.stride = stride(bytes);
    this.slots = slots(bytes, window);
    this.nearMemory = arena.allocate(slots * stride, PAGE_BYTES);
    this.farMemory = arena.allocate(slots * stride, PAGE_BYTES);
    this.near = links.toNext().regMr(nearMemory);
    this.far = links.fromPrevious().regMr(farMemory);
    int peer = 1 - links.bootstrap().rank();
    this.peersFar = RemoteMemory.decode(links.gather(far.remote().encode()).get(peer));
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

  Registration near() {
    return near;
  }

  Registration far() {
    return far;
  }

  RemoteMemory peersFar() {
    return peersFar;
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
    links.toNext().deregMr(near);
    links.fromPrevious().deregMr(far);
    arena.close();
  }
}

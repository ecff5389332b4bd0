package org.jofi.rdma.communicator;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jofi.fabric.MemoryKind;
import org.jofi.mr.registration.BufferRange;
import org.jofi.rdma.connect.Connection;
import org.jofi.rdma.wire.ProtocolLimits;
import org.jofi.transport.Memory;
import org.jofi.transport.driven.RequestId;
import org.jspecify.annotations.Nullable;

/**
 * Records which memory the requests of a communicator use, registrations or segments, and keeps it
 * reachable. It allocates nothing for a request if its slot was used before. With the endpoint's
 * lock held, but for {@link #names}.
 */
final class RegistrationUses {
  private static final int GROUP = ProtocolLimits.MAX_GROUP;

  private final Connection connection;
  private volatile long[] requests = new long[0];
  private volatile @Nullable Object[] used = new @Nullable Object[0];

  RegistrationUses(Connection connection) {
    this.connection = connection;
  }

  /** Records that a request uses memory. Does nothing if the number is not a request id. */
  void add(long request, Object memory) {
    if (request > 0) {
      put(request, 0, memory);
      used[RequestId.slot(request) * GROUP + 1] = null;
    }
  }

  void add(long request, int count, @Nullable Object[] memories) {
    if (request > 0) {
      for (int i = 0; i < count; i++) {
        put(request, i, memories[i]);
      }
      if (count < GROUP) {
        used[RequestId.slot(request) * GROUP + count] = null;
      }
    }
  }

  private void put(long request, int index, @Nullable Object memory) {
    int slot = RequestId.slot(request);
    if (slot >= requests.length) {
      int slots = Math.max(2 * requests.length, slot + 1);
      used = Arrays.copyOf(used, slots * GROUP);
      requests = Arrays.copyOf(requests, slots);
    }
    requests[slot] = request;
    used[slot * GROUP + index] = memory;
  }

  /** A request succeeded, so that nothing of it uses memory any more: lets go of it. */
  void over(long request) {
    int slot = RequestId.slot(request);
    if (slot < requests.length && requests[slot] == request) {
      for (int i = slot * GROUP; i < (slot + 1) * GROUP && used[i] != null; i++) {
        used[i] = null;
      }
    }
  }

  /** A request that may still use a registration, or any of the memory if null; or 0. */
  long user(@Nullable RdmaRegistration registration) {
    for (int slot = 0; slot < requests.length; slot++) {
      for (int i = slot * GROUP; i < (slot + 1) * GROUP && used[i] != null; i++) {
        if ((registration == null || registration.equals(used[i]))
            && connection.usesMemory(requests[slot])) {
          return requests[slot];
        }
      }
    }
    return 0;
  }

  List<Object> memory() {
    List<Object> memory = new ArrayList<>();
    for (Object each : used) {
      if (each != null) {
        memory.add(each);
      }
    }
    return memory;
  }

  /**
   * Names the requests that use memory of a range, as far as can be seen without the endpoint's
   * lock. Any thread.
   */
  void names(BufferRange range, String label, List<String> names) {
    long[] ids = requests;
    @Nullable Object[] memory = used;
    for (int i = 0; i < memory.length && i / GROUP < ids.length; i++) {
      Object each = memory[i];
      if (each != null && touches(each, range) && isUsing(ids[i / GROUP])) {
        names.add("request 0x%x of %s".formatted(ids[i / GROUP], label));
      }
    }
  }

  private boolean isUsing(long request) {
    try {
      return connection.usesMemory(request);
    } catch (ArrayIndexOutOfBoundsException growing) {
      // The table grows just now, under the lock that this thread does not have.
      return true;
    }
  }

  private static boolean touches(Object memory, BufferRange range) {
    if (memory instanceof MemorySegment segment) {
      return range.kind() == MemoryKind.HOST
          && touches(segment.address(), segment.byteSize(), range);
    }
    Memory registered = ((RdmaRegistration) memory).memory();
    return registered.kind() == range.kind()
        && registered.device() == range.device()
        && touches(registered.address(), registered.lengthBytes(), range);
  }

  private static boolean touches(long address, long lengthBytes, BufferRange range) {
    return address < range.address() + range.lengthBytes()
        && range.address() < address + lengthBytes;
  }
}

package org.jofi.rdma.communicator;

import java.util.Arrays;
import org.jofi.rdma.engine.Connection;
import org.jofi.rdma.wire.ProtocolLimits;
import org.jofi.transport.RequestId;
import org.jspecify.annotations.Nullable;

/**
 * Records which registrations the requests of a communicator use. It allocates nothing for a
 * request if its slot was used before, since a slot's last request is kept until the next one.
 */
final class RegistrationUses {
  private static final int GROUP = ProtocolLimits.MAX_GROUP;

  private long[] requests = new long[0];
  private @Nullable RdmaRegistration[] registrations = new @Nullable RdmaRegistration[0];

  /** Records that a request uses a registration. Does nothing if the number is not a request id. */
  void add(long request, RdmaRegistration used) {
    if (request > 0) {
      put(request, 0, used);
      registrations[RequestId.slot(request) * GROUP + 1] = null;
    }
  }

  /**
   * Records that a request uses {@code count} registrations. Does nothing if the number is not a
   * request id.
   */
  void add(long request, int count, RdmaRegistration[] used) {
    if (request > 0) {
      for (int i = 0; i < count; i++) {
        put(request, i, used[i]);
      }
      if (count < GROUP) {
        registrations[RequestId.slot(request) * GROUP + count] = null;
      }
    }
  }

  private void put(long request, int index, RdmaRegistration used) {
    int slot = RequestId.slot(request);
    if (slot >= requests.length) {
      int slots = Math.max(2 * requests.length, slot + 1);
      requests = Arrays.copyOf(requests, slots);
      registrations = Arrays.copyOf(registrations, slots * GROUP);
    }
    requests[slot] = request;
    registrations[slot * GROUP + index] = used;
  }

  /** A request that may still use it, or 0. */
  long user(RdmaRegistration registration, Connection connection) {
    for (int slot = 0; slot < requests.length; slot++) {
      for (int i = slot * GROUP; i < (slot + 1) * GROUP && registrations[i] != null; i++) {
        if (registration.equals(registrations[i]) && connection.usesMemory(requests[slot])) {
          return requests[slot];
        }
      }
    }
    return 0;
  }
}

package org.jofi.rdma.communicator;

import java.util.Arrays;
import org.jofi.transport.driven.RequestId;

/** What callers gave requests of a communicator to be told with their ends, by slot. */
final class RequestCookies {
  private long[] requests = {};
  private long[] cookies = {};

  /** Does nothing if the number is not a request id. Allocates where the slot is a new one. */
  void put(long request, long cookie) {
    if (request > 0) {
      int slot = RequestId.slot(request);
      if (slot >= requests.length) {
        int slots = Math.max(2 * requests.length, slot + 1);
        cookies = Arrays.copyOf(cookies, slots);
        requests = Arrays.copyOf(requests, slots);
      }
      requests[slot] = request;
      cookies[slot] = cookie;
    }
  }

  /** The request's; 0 if it has none. */
  long of(long request) {
    int slot = RequestId.slot(request);
    return slot < requests.length && requests[slot] == request ? cookies[slot] : 0;
  }
}

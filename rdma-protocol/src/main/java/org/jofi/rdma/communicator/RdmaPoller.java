package org.jofi.rdma.communicator;

import java.util.ArrayList;
import java.util.List;
import org.jofi.rdma.device.DeviceEndpoint;
import org.jofi.rdma.device.EndpointLock;
import org.jofi.transport.Comm;
import org.jofi.transport.Poller;
import org.jofi.transport.Result;
import org.jspecify.annotations.Nullable;

/**
 * Finds what is over of the communicators of an endpoint in one hold of its lock. Each request is
 * reported when it is told of, not before: until then it is as if nobody had looked at it.
 */
final class RdmaPoller implements Poller {
  private static final int BATCH = 256;

  private final RdmaDevice device;
  private final List<EndpointComms> polled = new ArrayList<>();
  private int turn;

  // What was found and is not told yet.
  private final @Nullable RdmaComm[] comms = new @Nullable RdmaComm[BATCH];
  private final long[] requests = new long[BATCH];
  private int found;
  private int told;
  private boolean telling;

  RdmaPoller(RdmaDevice device) {
    this.device = device;
  }

  private static final class EndpointComms {
    final DeviceEndpoint endpoint;
    final EndpointLock.Tester tester = new EndpointLock.Tester();
    final List<RdmaComm> comms = new ArrayList<>();
    int turn;

    EndpointComms(DeviceEndpoint endpoint) {
      this.endpoint = endpoint;
    }
  }

  @Override
  public void add(Comm comm) {
    if (!(comm instanceof RdmaComm ours) || !device.equals(ours.device())) {
      throw new IllegalArgumentException(comm.label() + " is another device's");
    }
    ours.list(this);
    of(ours.endpoint).comms.add(ours);
  }

  private EndpointComms of(DeviceEndpoint endpoint) {
    for (EndpointComms one : polled) {
      if (one.endpoint.equals(endpoint)) {
        return one;
      }
    }
    EndpointComms added = new EndpointComms(endpoint);
    polled.add(added);
    return added;
  }

  @Override
  public void remove(Comm comm) {
    for (EndpointComms one : polled) {
      if (comm instanceof RdmaComm ours && one.comms.remove(ours)) {
        ours.stopListing();
        forgetFound(ours);
        polled.removeIf(each -> each.comms.isEmpty());
        return;
      }
    }
  }

  private void forgetFound(RdmaComm comm) {
    for (int i = told; i < found; i++) {
      if (comm.equals(comms[i])) {
        comms[i] = null;
      }
    }
  }

  @Override
  public int poll(Completions to, int limit) {
    if (limit < 1) {
      throw new IllegalArgumentException("a poll tells of 1 or more, not " + limit);
    }
    if (telling) {
      throw new IllegalStateException("a poll from within a poll's call: return from it first");
    }
    if (told == found) {
      told = 0;
      found = 0;
      find(Math.min(limit, BATCH));
    }
    telling = true;
    try {
      return tell(to, limit);
    } finally {
      telling = false;
    }
  }

  private int tell(Completions to, int limit) {
    int count = 0;
    while (told < found && count < limit) {
      int at = told++;
      RdmaComm comm = comms[at];
      // Somebody may have tested it since.
      long result = comm == null ? Result.STALE_REQUEST : comm.reported(requests[at]);
      if (comm != null && result != Result.STALE_REQUEST) {
        count++;
        to.completed(comm, requests[at], comm.cookies.of(requests[at]), result);
      }
    }
    return count;
  }

  /** Looks at each endpoint once; the next poll begins with another one. */
  private void find(int most) {
    int endpoints = polled.size();
    if (endpoints == 0) {
      return;
    }
    turn = (turn + 1) % endpoints;
    for (int i = 0; i < endpoints; i++) {
      find(polled.get((turn + i) % endpoints), most);
    }
    polled.forEach(RdmaPoller::dropClosed);
    polled.removeIf(each -> each.comms.isEmpty());
  }

  private void find(EndpointComms in, int most) {
    try (var hold = in.endpoint.lock.testing(in.tester)) {
      if (hold == null) {
        return;
      }
      in.endpoint.help();
      int count = in.comms.size();
      in.turn = (in.turn + 1) % count;
      for (int i = 0; i < count && found < most; i++) {
        find(in.comms.get((in.turn + i) % count), most);
      }
    }
  }

  private void find(RdmaComm comm, int most) {
    while (found < most) {
      long request = comm.connection().firstOver();
      if (request == 0) {
        return;
      }
      comms[found] = comm;
      requests[found++] = request;
    }
  }

  private static void dropClosed(EndpointComms from) {
    for (int i = from.comms.size() - 1; i >= 0; i--) {
      RdmaComm comm = from.comms.get(i);
      if (comm.isClosed() && !comm.connection().hasOver()) {
        from.comms.remove(i);
        comm.stopListing();
      }
    }
  }

  @Override
  public void close() {
    for (EndpointComms one : polled) {
      one.comms.forEach(RdmaComm::stopListing);
    }
    polled.clear();
    told = found;
  }
}

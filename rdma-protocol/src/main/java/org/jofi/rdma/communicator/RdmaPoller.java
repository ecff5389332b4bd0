package org.jofi.rdma.communicator;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jofi.rdma.device.DeviceEndpoint;
import org.jofi.rdma.device.EndpointLock;
import org.jofi.transport.Comm;
import org.jofi.transport.Poller;
import org.jspecify.annotations.Nullable;

/** Takes what is over from the communicators of an endpoint in one hold of its lock, and tells. */
final class RdmaPoller implements Poller {
  private static final int FEW = 64;

  private final RdmaDevice device;
  private final List<Below> below = new ArrayList<>();
  private int turn;

  // What was taken and is not told yet.
  private @Nullable RdmaComm[] comms = new @Nullable RdmaComm[FEW];
  private long[] requests = new long[FEW];
  private long[] results = new long[FEW];
  private int taken;
  private int told;

  RdmaPoller(RdmaDevice device) {
    this.device = device;
  }

  /** An endpoint, and its communicators that were added. */
  private static final class Below {
    final DeviceEndpoint endpoint;
    final EndpointLock.Tester tester = new EndpointLock.Tester();
    final List<RdmaComm> comms = new ArrayList<>();
    int turn;

    Below(DeviceEndpoint endpoint) {
      this.endpoint = endpoint;
    }
  }

  @Override
  public void add(Comm comm) {
    if (!(comm instanceof RdmaComm ours) || !device.equals(ours.device())) {
      throw new IllegalArgumentException(comm.label() + " is another device's");
    }
    ours.list(this);
    of(ours.endpoint()).comms.add(ours);
  }

  private Below of(DeviceEndpoint endpoint) {
    for (Below one : below) {
      if (one.endpoint.equals(endpoint)) {
        return one;
      }
    }
    Below added = new Below(endpoint);
    below.add(added);
    return added;
  }

  @Override
  public void remove(Comm comm) {
    for (Below one : below) {
      if (comm instanceof RdmaComm ours && one.comms.remove(ours)) {
        ours.listNoMore();
        below.removeIf(each -> each.comms.isEmpty());
        return;
      }
    }
  }

  @Override
  public int poll(Completions to, int limit) {
    if (limit < 1) {
      throw new IllegalArgumentException("a poll tells of 1 or more, not " + limit);
    }
    if (told == taken) {
      told = 0;
      taken = 0;
      makeRoom(limit);
      take(limit);
    }
    int before = told;
    int end = Math.min(taken, told + limit);
    while (told < end) {
      int at = told++;
      RdmaComm comm = comms[at];
      if (comm != null) {
        to.completed(comm, requests[at], results[at]);
      }
    }
    return end - before;
  }

  private void makeRoom(int limit) {
    if (limit > requests.length) {
      int room = Math.max(limit, 2 * requests.length);
      comms = Arrays.copyOf(comms, room);
      requests = Arrays.copyOf(requests, room);
      results = Arrays.copyOf(results, room);
    }
  }

  /** Each endpoint once; the next poll begins with another one. */
  private void take(int limit) {
    int endpoints = below.size();
    if (endpoints == 0) {
      return;
    }
    turn = (turn + 1) % endpoints;
    for (int i = 0; i < endpoints; i++) {
      take(below.get((turn + i) % endpoints), limit);
    }
    for (int i = below.size() - 1; i >= 0; i--) {
      dropClosed(below.get(i));
      if (below.get(i).comms.isEmpty()) {
        below.remove(i);
      }
    }
  }

  private void take(Below from, int limit) {
    try (var hold = from.endpoint.lock().testing(from.tester)) {
      if (hold == null) {
        return;
      }
      from.endpoint.help();
      int comms = from.comms.size();
      from.turn = (from.turn + 1) % comms;
      for (int i = 0; i < comms && taken < limit; i++) {
        take(from.comms.get((from.turn + i) % comms), limit);
      }
    }
  }

  private void take(RdmaComm comm, int limit) {
    while (taken < limit) {
      long request = comm.takeOver();
      if (request == 0) {
        return;
      }
      comms[taken] = comm;
      requests[taken] = request;
      results[taken] = comm.result(request);
      taken++;
    }
  }

  /** Those that were closed, and of which nothing is left. */
  private static void dropClosed(Below from) {
    for (int i = from.comms.size() - 1; i >= 0; i--) {
      RdmaComm comm = from.comms.get(i);
      if (comm.isClosed() && comm.listsNothing()) {
        from.comms.remove(i);
        comm.listNoMore();
      }
    }
  }

  @Override
  public void close() {
    for (Below one : below) {
      one.comms.forEach(RdmaComm::listNoMore);
    }
    below.clear();
  }
}

package org.jofi.rdma.communicator;

import org.agrona.concurrent.NanoClock;
import org.jofi.counters.written.CounterType;
import org.jofi.rdma.request.Request;
import org.jofi.rdma.request.RequestQueue;
import org.jofi.rdma.request.RequestStrategy;
import org.jofi.rdma.request.RequestWatch;
import org.jofi.transport.Failure;
import org.jofi.transport.Result;
import org.jofi.transport.diagnostics.Events;
import org.jofi.transport.diagnostics.SlowRequests;
import org.jofi.transport.driven.RequestId;
import org.jspecify.annotations.Nullable;

/**
 * JFR events of a communicator's requests, and how often there was room for none. Each is timed
 * only while somebody records slow ones: the engine tells what happens, and the time is read here.
 * Used with the endpoint's lock held.
 */
final class RequestEvents implements RequestWatch {
  private final RdmaComm comm;
  private final NanoClock clock;
  private final SlowRequests slow = new SlowRequests();

  RequestEvents(RdmaComm comm, NanoClock clock) {
    this.comm = comm;
    this.clock = clock;
  }

  /** A call returned a request's id, or that there is none. */
  void posted(long request) {
    if (request == Result.TRY_AGAIN) {
      comm.connection().link.endpoint.counters().add(CounterType.QUEUE_FULL, 1);
    } else if (Events.areSlowRequestsRecorded() && request > 0) {
      time(request);
    }
  }

  private void time(long request) {
    Request known = comm.connection().request(request);
    if (known != null && known.isRunning()) {
      comm.connection().watch(this);
      boolean waitsForNone = RequestId.slot(request) >= RequestQueue.ONE_SIDED;
      slow.posted(request, clock.nanoTime(), known.isUnderWay() || waitsForNone);
    }
  }

  @Override
  public void matched(long request) {
    if (!slow.isEmpty()) {
      slow.matched(request, clock.nanoTime());
    }
  }

  @Override
  public void over(Request request) {
    if (!slow.isEmpty()) {
      long id = request.id();
      slow.over(id, clock.nanoTime(), comm.label(), kind(id), bytes(request.posted()));
    }
  }

  /** The caller is told that a request failed. */
  void failed(long id) {
    Request request = comm.connection().request(id);
    Failure why = request == null ? null : request.failure();
    if (request != null && why != null) {
      RequestStrategy posted = request.posted();
      Events.requestFailed(
          comm.label(),
          kind(id),
          posted == null ? 0 : posted.tag(),
          bytes(posted),
          why.cause().name(),
          why.errno(),
          why.where());
    }
  }

  private static long bytes(@Nullable RequestStrategy posted) {
    return posted == null ? -1 : posted.postedBytes();
  }

  private String kind(long request) {
    int slot = RequestId.slot(request);
    return slot < RequestQueue.ONE_SIDED
        ? comm.messages()
        : slot < RequestQueue.FLUSHES ? "one-sided" : "flush";
  }
}

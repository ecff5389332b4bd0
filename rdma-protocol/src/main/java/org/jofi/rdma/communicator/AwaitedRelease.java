package org.jofi.rdma.communicator;

import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.NanoClock;
import org.jofi.transport.diagnostics.Events;
import org.jofi.transport.diagnostics.StallEvent;

/** The wait of a close until the connection is over. */
final class AwaitedRelease {
  private AwaitedRelease() {}

  /** What a NIC does not complete in time is left to the endpoint. */
  static void of(RdmaComm comm, long closingSince) {
    StallEvent stall = Events.stall();
    await(comm, closingSince);
    Events.waited(stall, comm.label(), "the end of its close");
  }

  private static void await(RdmaComm comm, long closingSince) {
    NanoClock clock = comm.device.environment.clock();
    IdleStrategy idle = comm.device.environment.idle().get();
    // The connection's own time limit ends the wait for the peer; this one, that for the NIC.
    long bound = comm.device.options.closeTimeout().toNanos();
    long now = clock.nanoTime();
    // Those of a device that close together wait together; each looks, whatever the others took.
    long deadline = Math.max(closingSince + bound + bound / 4, now + bound / 64);
    while (true) {
      int events;
      try (var _ = comm.lock.closing()) {
        events = comm.endpoint.progress();
        if (comm.connection().isReleased() || clock.nanoTime() - deadline >= 0) {
          return;
        }
      }
      idle.idle(events);
    }
  }
}

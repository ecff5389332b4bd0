package org.jofi.mr.recording;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.SplittableRandom;
import org.jofi.mr.DeviceRegistrations;
import org.jofi.mr.registration.CacheLimits;
import org.jofi.mr.teardown.OwnershipGraph;

/** A device over a recording fabric, with one multi-rail endpoint, for a test. */
public final class Device implements AutoCloseable {
  public final RecordingFabric fabric;
  public final DeviceRegistrations registrations;
  public final MultiRail rails;
  private boolean closed;

  /** Runs once, under the cache's lock, while it refuses to close what is in use. */
  public volatile Runnable whenRefused = () -> {};

  public Device(RecordingFabric.Profile profile, int dataRails, int controlRails) {
    this(profile, dataRails, controlRails, CacheLimits.DEFAULT);
  }

  public Device(
      RecordingFabric.Profile profile, int dataRails, int controlRails, CacheLimits limits) {
    fabric = new RecordingFabric(profile, Math.max(dataRails, controlRails));
    registrations =
        new DeviceRegistrations(
            List.copyOf(fabric.domains),
            limits,
            new SteppingClock(),
            registration -> {
              Runnable then = whenRefused;
              whenRefused = () -> {};
              then.run();
              return List.of("request 42");
            },
            new SplittableRandom(1)::nextLong);
    rails = new MultiRail("endpoint 0", fabric, registrations, dataRails, controlRails);
  }

  /** Closes all of it; nothing may be left, and no contract may have been broken. */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    rails.teardown.close();
    OwnershipGraph graph = new OwnershipGraph();
    fabric.domains.forEach(domain -> graph.own(domain, domain.info().toString()));
    registrations.addTo(graph);
    graph.close(false);
    fabric.requireNoViolation();
    assertEquals(0, fabric.openRegions());
  }
}

package org.jofi.mr;

import java.util.List;
import java.util.function.Consumer;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.NanoClock;

/**
 * The one road by which a multi-rail endpoint goes, for an orderly close and for an abort:
 *
 * <pre>
 * ACTIVE -&gt; QUIESCING (cancel, drain, bounded) -&gt; CLOSING (as the ownership graph says) -&gt; CLOSED
 * </pre>
 *
 * They differ in what they do with requests in flight. A close lets them finish, cancels those that
 * do not within the bound, and refuses if even that does not end within the bound: the provider may
 * still use their memory. An abort cancels them at once, and closes after the bound come what may,
 * since what is left would be leaked otherwise. One thread at a time, the endpoint's.
 */
public final class Teardown {

  /** How far it went. */
  public enum Stage {
    /** Not begun. */
    ACTIVE,
    /** Nothing new may be posted or registered; what is posted completes or is cancelled. */
    QUIESCING,
    /** Regions, endpoints, queues and tables close. */
    CLOSING,
    /** All closed. */
    CLOSED
  }

  private final String label;
  private final InFlightOperations inFlight;
  private final Consumer<OwnershipGraph> ownership;
  private final NanoClock clock;
  private final IdleStrategy idle;
  private final long drainNs;
  private Stage stage = Stage.ACTIVE;
  private final OwnershipGraph graph = new OwnershipGraph();

  /**
   * @param label what errors call the endpoint
   * @param inFlight what it has posted
   * @param ownership adds all that closes with the endpoint, and its orders, to a graph: its
   *     endpoints, queues and tables, and {@link EndpointRegistrations#addTo}. Called once, when
   *     the teardown begins; nothing can be registered from then on.
   * @param clock for the bound
   * @param idle what to do between polls; must let other threads run
   * @param drainNs bound on each wait for operations to complete, in nanoseconds
   */
  public Teardown(
      String label,
      InFlightOperations inFlight,
      Consumer<OwnershipGraph> ownership,
      NanoClock clock,
      IdleStrategy idle,
      long drainNs) {
    this.label = label;
    this.inFlight = inFlight;
    this.ownership = ownership;
    this.clock = clock;
    this.idle = idle;
    this.drainNs = drainNs;
  }

  /** How far it went. */
  public Stage stage() {
    return stage;
  }

  /**
   * Closes in order; again is a no-op.
   *
   * @throws TeardownException if operations are in flight after they were cancelled, or something
   *     cannot be closed. Call again, or {@link #abort}.
   */
  public void close() {
    if (stage == Stage.ACTIVE) {
      quiesce();
      inFlight.cancelReceives();
      if (drain() > 0) {
        inFlight.cancelAll();
      }
    }
    if (stage == Stage.QUIESCING && drain() > 0) {
      throw new TeardownException(
          "cannot close %s: cancelled, but still in flight after %d ms: %s"
              .formatted(label, drainNs / 1_000_000, inFlight.describe()),
          List.of());
    }
    closeOwned(false);
  }

  /**
   * Closes as fast as it can be done; again is a no-op.
   *
   * @return how many operations were still in flight when their regions and endpoints were closed;
   *     0 unless a provider did not complete what was cancelled within the bound
   * @throws TeardownException if something cannot be closed; call again
   */
  public int abort() {
    int left = 0;
    if (stage == Stage.ACTIVE) {
      quiesce();
    }
    if (stage == Stage.QUIESCING) {
      inFlight.cancelAll();
      left = drain();
    }
    closeOwned(true);
    return left;
  }

  private void quiesce() {
    ownership.accept(graph);
    stage = Stage.QUIESCING;
  }

  /** Polls until nothing is in flight, or the bound. */
  private int drain() {
    long start = clock.nanoTime();
    idle.reset();
    int left = inFlight.poll();
    while (left > 0 && clock.nanoTime() - start < drainNs) {
      idle.idle();
      left = inFlight.poll();
    }
    return left;
  }

  private void closeOwned(boolean regardless) {
    if (stage == Stage.CLOSED) {
      return;
    }
    stage = Stage.CLOSING;
    graph.close(regardless);
    stage = Stage.CLOSED;
  }
}

package org.jofi.mr.teardown;

import java.util.List;
import java.util.function.Consumer;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.NanoClock;

/**
 * Closes a multi-rail endpoint. An orderly close and an abort take the same steps:
 *
 * <pre>
 * ACTIVE -&gt; QUIESCING (cancel, drain, bounded) -&gt; CLOSING (as the ownership graph says) -&gt; CLOSED
 * </pre>
 *
 * They differ in how they treat requests in flight. A close lets them finish and cancels those that
 * do not finish within the time limit. If cancelling does not end within the time limit either, the
 * close fails, since the provider may still use their memory. An abort cancels them at once. After
 * the time limit it closes everything, whether they have ended or not, because it would leak the
 * rest otherwise. Only the endpoint's thread may use this.
 */
public final class Teardown {

  /** How far the teardown has got. */
  public enum Stage {
    /** Not begun. */
    ACTIVE,
    /** Nothing new may be posted or registered; what is posted completes or is cancelled. */
    QUIESCING,
    /** Regions, endpoints, completion queues and address vectors close. */
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
   * @param label the endpoint's name in error messages
   * @param inFlight the operations that it has posted
   * @param ownership adds everything that closes with the endpoint, and the orders of closing, to a
   *     graph: its rails' endpoints, completion queues and address vectors, and what its
   *     registrations add. It is called once, when the teardown begins; nothing can be registered
   *     from then on.
   * @param clock for the time limit
   * @param idle what to do between polls; must let other threads run
   * @param drainNs time limit of each wait for operations to complete, in nanoseconds
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

  /** How far the teardown has got. */
  public Stage stage() {
    return stage;
  }

  /**
   * Closes in order; a second call does nothing.
   *
   * @throws TeardownException if operations are still in flight after they were cancelled, or
   *     something cannot be closed. Call it again, or {@link #abort}.
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
   * Closes without waiting for requests to finish. A second call does nothing.
   *
   * @return how many operations were still in flight when their regions and endpoints were closed;
   *     0 unless a provider did not complete cancelled operations within the time limit
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

  /** Polls until nothing is in flight or the time limit has passed. */
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

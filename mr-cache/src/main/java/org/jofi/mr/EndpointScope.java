package org.jofi.mr;

import java.util.List;
import java.util.Objects;
import org.jofi.fabric.BoundRegion;
import org.jofi.fabric.MemoryRegion;
import org.jofi.fabric.RegionRequest;
import org.jofi.fabric.UnboundRegion;

/**
 * Regions belong to endpoints (FI_MR_ENDPOINT): fi_mr_regattr, fi_mr_bind, fi_mr_enable per rail,
 * and nobody but that multi-rail endpoint uses them. They close before it.
 *
 * <p>Holds a strong reference to the multi-rail endpoint, so that it cannot go away under its
 * regions.
 */
public final class EndpointScope implements MrScope {
  private final EndpointRails owner;
  private final long generation;

  EndpointScope(EndpointRails owner, long generation) {
    this.owner = Objects.requireNonNull(owner);
    this.generation = generation;
  }

  /** The multi-rail endpoint that the regions are bound to. */
  public EndpointRails owner() {
    return owner;
  }

  @Override
  public long generation() {
    return generation;
  }

  @Override
  public MemoryRegion register(Rail rail, RegionRequest request) {
    UnboundRegion unbound = rail.domain().registerForEndpoint(request);
    BoundRegion bound;
    try {
      bound = unbound.bind(rail.endpoint());
    } catch (RuntimeException e) {
      undo(unbound::close, e);
      throw e;
    }
    try {
      return bound.enable();
    } catch (RuntimeException e) {
      undo(bound::close, e);
      throw e;
    }
  }

  private static void undo(Runnable close, RuntimeException cause) {
    try {
      close.run();
    } catch (RuntimeException e) {
      cause.addSuppressed(e);
    }
  }

  @Override
  public void order(OwnershipGraph graph, AutoCloseable registration, List<Rail> rails) {
    for (Rail rail : rails) {
      graph.closesBefore(registration, rail.endpoint());
    }
  }

  @Override
  public void orderCached(OwnershipGraph graph, AutoCloseable cached, EndpointRails rails) {
    graph.own(cached, "cached registrations of " + rails.label());
    order(graph, cached, rails.dataRails());
  }

  @Override
  public String toString() {
    return "endpoint scope of %s, generation %d".formatted(owner.label(), generation);
  }
}

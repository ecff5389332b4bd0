package org.jofi.mr;

import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
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
  public MemoryRegion register(Rail rail, RegionRequest request, Consumer<Runnable> undo) {
    UnboundRegion unbound = rail.domain().registerForEndpoint(request);
    undo.accept(unbound::close);
    BoundRegion bound = unbound.bind(rail.endpoint());
    undo.accept(bound::close);
    MemoryRegion region = bound.enable();
    undo.accept(region::close);
    return region;
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
    order(graph, cached, rails.controlRails()); // Half-made mailboxes may be among them.
  }

  @Override
  public String toString() {
    return "endpoint scope of %s, generation %d".formatted(owner.label(), generation);
  }
}

package org.jofi.mr.scope;

import java.util.List;
import java.util.function.Consumer;
import org.jofi.fabric.MemoryRegion;
import org.jofi.fabric.RegionRequest;
import org.jofi.mr.teardown.OwnershipGraph;

/**
 * The scope in which regions belong to domains. Registering takes one fi_mr_regattr per rail, and
 * all endpoints over the same NICs share the regions. A region closes after the endpoints that may
 * have receives posted in it, and before its domain.
 */
public final class DomainScope implements MrScope {
  private static final Use NOTHING = () -> {};

  private final long generation;

  /**
   * @param generation distinguishes it from every other scope of the device
   */
  public DomainScope(long generation) {
    this.generation = generation;
  }

  @Override
  public long generation() {
    return generation;
  }

  @Override
  public MemoryRegion register(Rail rail, RegionRequest request, Consumer<Runnable> undo) {
    MemoryRegion region = rail.domain().register(request);
    undo.accept(region::close);
    return region;
  }

  @Override
  public boolean outlivesEndpoints() {
    return true;
  }

  @Override
  public Use use(Rail rail) {
    return NOTHING;
  }

  @Override
  public boolean closeRail(Rail rail) {
    // Its regions are the domain's.
    return true;
  }

  @Override
  public void order(OwnershipGraph graph, AutoCloseable registration, List<Rail> rails) {
    for (Rail rail : rails) {
      graph.closesBefore(rail.endpoint(), registration);
      graph.closesBefore(registration, rail.domain());
    }
  }

  @Override
  public void orderCached(OwnershipGraph graph, AutoCloseable cached, EndpointRails rails) {
    // They stay open after the endpoint, for the next endpoint over the same NICs.
  }

  @Override
  public String toString() {
    return "domain scope, generation " + generation;
  }
}

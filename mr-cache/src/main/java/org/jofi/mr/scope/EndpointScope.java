package org.jofi.mr.scope;

import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Consumer;
import org.jofi.fabric.BoundRegion;
import org.jofi.fabric.MemoryRegion;
import org.jofi.fabric.RegionRequest;
import org.jofi.fabric.UnboundRegion;
import org.jofi.mr.teardown.OwnershipGraph;
import org.jspecify.annotations.Nullable;

/**
 * The scope in which regions belong to endpoints (FI_MR_ENDPOINT). Registering takes fi_mr_regattr,
 * fi_mr_bind and fi_mr_enable per rail. Only this multi-rail endpoint uses the regions, and they
 * close before it.
 *
 * <p>Holds a strong reference to the multi-rail endpoint, so that it cannot be collected while it
 * has regions.
 */
public final class EndpointScope implements MrScope {
  private final EndpointRails owner;
  private final long generation;
  private final ReentrantReadWriteLock closing = new ReentrantReadWriteLock();

  /** Guarded by that lock. */
  private final Set<Rail> closed = new HashSet<>();

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
  public boolean outlivesEndpoints() {
    return false;
  }

  @Override
  public @Nullable Use use(Rail rail) {
    closing.readLock().lock();
    if (closed.contains(rail)) {
      closing.readLock().unlock();
      return null;
    }
    return closing.readLock()::unlock;
  }

  @Override
  public boolean closeRail(Rail rail) {
    if (!closing.writeLock().tryLock()) {
      return false;
    }
    try {
      closed.add(rail);
      return true;
    } finally {
      closing.writeLock().unlock();
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
    // They may include regions of mailboxes that are not fully registered.
    order(graph, cached, rails.controlRails());
  }

  @Override
  public String toString() {
    return "endpoint scope of %s, generation %d".formatted(owner.label(), generation);
  }
}

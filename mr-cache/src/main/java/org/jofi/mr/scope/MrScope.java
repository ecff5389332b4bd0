package org.jofi.mr.scope;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jofi.fabric.Domain;
import org.jofi.fabric.MemoryKind;
import org.jofi.fabric.MemoryRegion;
import org.jofi.fabric.MrMode;
import org.jofi.fabric.RegionRequest;
import org.jofi.fabric.RegistrationScope;
import org.jofi.mr.teardown.OwnershipGraph;
import org.jspecify.annotations.Nullable;

/**
 * What the regions of a device belong to, and everything that depends on it: the calls that make a
 * region, who may share it, and what closes before what. It is chosen once per device; no other
 * class looks at the negotiated mode. Any thread.
 */
public sealed interface MrScope permits DomainScope, EndpointScope {

  /**
   * Identifies the scope; registrations are shared only within it. No two scopes of a device have
   * the same number.
   */
  long generation();

  /**
   * Makes one usable region on one rail, with all steps that the scope needs.
   *
   * @param undo takes, after each step, the action that closes the region in its present state. The
   *     last action is valid even after a failure
   * @throws org.jofi.fabric.FabricException if the provider refuses any of the steps
   */
  MemoryRegion register(Rail rail, RegionRequest request, Consumer<Runnable> undo);

  /** Whether regions stay open when the endpoint closes of a rail that they were made on. */
  boolean outlivesEndpoints();

  /**
   * Begins an act on a rail's regions that must not meet the closing of the rail, as {@link
   * #register} is. What is returned ends it, on the same thread.
   *
   * @return null if the rail is closed: no region is made on it
   */
  @Nullable Use use(Rail rail);

  /** See {@link #use}. */
  interface Use extends AutoCloseable {
    @Override
    void close();
  }

  /**
   * A rail closes: no region is made on it from now on.
   *
   * @return false if one is being made: call it again
   */
  boolean closeRail(Rail rail);

  /**
   * Adds the order of closing to the graph: a registration before or after the endpoints and
   * domains of its rails.
   */
  void order(OwnershipGraph graph, AutoCloseable registration, List<Rail> rails);

  /**
   * Adds the cached registrations of this scope to the graph of an endpoint that closes, if they
   * close with it.
   */
  void orderCached(OwnershipGraph graph, AutoCloseable cached, EndpointRails rails);

  /**
   * Whether a buffer that no peer accesses needs a descriptor: fi_mr(3), FI_MR_LOCAL and, for
   * device memory, FI_MR_HMEM.
   */
  static boolean needsDescriptor(Rail rail, MemoryKind kind) {
    var modes = rail.domain().info().mrModes();
    return modes.contains(MrMode.LOCAL) || (kind != MemoryKind.HOST && modes.contains(MrMode.HMEM));
  }

  /**
   * Chooses the scope for a device, from what its NICs negotiated.
   *
   * @param domains the device's NICs, at least one
   * @param generations supplies numbers, each once
   * @return a function that finds the scope of an endpoint's data registrations. If regions belong
   *     to endpoints, it makes a new scope at each call. Call it once per endpoint, and never from
   *     two threads at once.
   * @throws IllegalArgumentException if there is no NIC, or the NICs negotiated different scopes
   */
  static Function<EndpointRails, MrScope> negotiated(
      List<Domain> domains, java.util.function.LongSupplier generations) {
    if (domains.isEmpty()) {
      throw new IllegalArgumentException("a device has 1 NIC or more");
    }
    RegistrationScope scope = domains.getFirst().info().registrationScope();
    for (Domain domain : domains) {
      if (domain.info().registrationScope() != scope) {
        throw new IllegalArgumentException(
            "%s negotiated %s scope, but %s negotiated %s: one device cannot have both"
                .formatted(
                    domains.getFirst().info(),
                    scope,
                    domain.info(),
                    domain.info().registrationScope()));
      }
    }
    if (scope == RegistrationScope.ENDPOINT) {
      return rails -> new EndpointScope(rails, generations.getAsLong());
    }
    // Endpoints share registrations if they have the same NICs in the same order, so that rail i is
    // the same NIC for all.
    Map<List<Domain>, DomainScope> scopes = new HashMap<>();
    return rails ->
        scopes.computeIfAbsent(
            rails.dataRails().stream().map(Rail::domain).toList(),
            nics -> new DomainScope(generations.getAsLong()));
  }
}

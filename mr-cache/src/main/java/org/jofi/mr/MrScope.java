package org.jofi.mr;

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

/**
 * What the regions of a device belong to, and all that follows from it: the calls that make one,
 * who may share it, and who closes before whom. Chosen once per device; nobody else asks which mode
 * was negotiated. Any thread.
 */
public sealed interface MrScope permits DomainScope, EndpointScope {

  /** Identity under which registrations may be shared: no two scopes of a device have the same. */
  long generation();

  /**
   * Makes one usable region on one rail, with every step that the scope needs.
   *
   * @param undo is told after each step what closes the region as it is then; the last one is in
   *     force, also after a failure
   * @throws org.jofi.fabric.FabricException if the provider refuses any of the steps
   */
  MemoryRegion register(Rail rail, RegionRequest request, Consumer<Runnable> undo);

  /**
   * Tells the graph who closes first: a registration, or the endpoints and domains of its rails.
   */
  void order(OwnershipGraph graph, AutoCloseable registration, List<Rail> rails);

  /**
   * Gives the cached registrations of this scope to the graph of an endpoint that closes, if they
   * die with it.
   */
  void orderCached(OwnershipGraph graph, AutoCloseable cached, EndpointRails rails);

  /**
   * Whether a buffer that only this side uses needs a descriptor: fi_mr(3), FI_MR_LOCAL and, for
   * device memory, FI_MR_HMEM.
   */
  static boolean needsDescriptor(Rail rail, MemoryKind kind) {
    var modes = rail.domain().info().mrModes();
    return modes.contains(MrMode.LOCAL) || (kind != MemoryKind.HOST && modes.contains(MrMode.HMEM));
  }

  /**
   * Chooses for a device, from what its NICs negotiated.
   *
   * @param domains the device's NICs, at least one
   * @param generations hands out numbers, each once
   * @return finds the scope of an endpoint's data registrations. In endpoint scope it makes a new
   *     one at each call; call it once per endpoint, and never from two threads at once.
   * @throws IllegalArgumentException if there is no NIC, or they negotiated different scopes
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
    // Endpoints over the same NICs in the same order share registrations: rail i is rail i.
    Map<List<Domain>, DomainScope> scopes = new HashMap<>();
    return rails ->
        scopes.computeIfAbsent(
            rails.dataRails().stream().map(Rail::domain).toList(),
            nics -> new DomainScope(generations.getAsLong()));
  }
}

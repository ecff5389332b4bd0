package org.jofi.rdma.device;

import java.util.ArrayList;
import java.util.List;
import org.jofi.counters.written.CounterBlock;
import org.jofi.fabric.Domain;
import org.jofi.fabric.Fabric;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.FabricProvider;
import org.jofi.mr.DeviceRegistrations;
import org.jofi.mr.registration.CacheLimits;
import org.jofi.mr.registration.RequestNames;
import org.jofi.mr.teardown.OwnershipGraph;
import org.jofi.rdma.spi.RdmaEnvironment;
import org.jofi.rdma.topology.DeviceGroup;
import org.jofi.transport.CacheOptions;

/**
 * The NICs of a device, opened: a fabric and a domain each, and where memory is registered with all
 * of them. Closed after the endpoints over them.
 */
final class DeviceNics implements AutoCloseable {
  private final OwnershipGraph graph = new OwnershipGraph();
  final List<Domain> domains = new ArrayList<>();
  private final DeviceRegistrations registrations;

  /** Opens them; if a provider refuses, nothing stays open. */
  DeviceNics(
      FabricProvider provider,
      DeviceGroup group,
      CacheOptions cache,
      RdmaEnvironment environment,
      RequestNames names,
      CounterBlock counters) {
    try {
      for (FabricInfo nic : group.rails()) {
        Fabric fabric = provider.open(nic);
        graph.own(fabric, "fabric of " + nic.domainName());
        Domain domain = fabric.openDomain();
        graph.own(domain, "domain of " + nic.domainName()).closesBefore(domain, fabric);
        domains.add(domain);
      }
      registrations =
          new DeviceRegistrations(
              domains,
              CacheLimits.DEFAULT.withIdle(cache.idleRegistrations(), cache.idleBytes()),
              environment.clock(),
              names,
              environment.random(),
              counters);
      registrations.addTo(graph);
    } catch (RuntimeException e) {
      try {
        graph.close(true);
      } catch (RuntimeException left) {
        e.addSuppressed(left);
      }
      throw e;
    }
  }

  DeviceRegistrations registrations() {
    return registrations;
  }

  @Override
  public void close() {
    graph.close(true);
  }
}

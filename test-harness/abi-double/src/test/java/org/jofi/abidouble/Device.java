package org.jofi.abidouble;

import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import org.agrona.concurrent.SystemNanoClock;
import org.jofi.fabric.Domain;
import org.jofi.fabric.Fabric;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.FabricProvider;
import org.jofi.mr.DeviceRegistrations;
import org.jofi.mr.registration.CacheLimits;
import org.jofi.mr.registration.RequestNames;

/** Domains over the double, and what is registered in them. */
final class Device implements AutoCloseable {
  final List<Domain> domains = new ArrayList<>();
  final DeviceRegistrations registrations;
  private final List<Fabric> fabrics = new ArrayList<>();

  Device(AbiDouble library, int nics, CacheLimits limits) {
    FabricProvider provider = library.provider();
    FabricInfo info = Stand.loopback(provider);
    for (int i = 0; i < nics; i++) {
      Fabric fabric = provider.open(info);
      fabrics.add(fabric);
      domains.add(fabric.openDomain());
    }
    registrations =
        new DeviceRegistrations(
            domains,
            limits,
            SystemNanoClock.INSTANCE,
            RequestNames.NONE,
            new SecureRandom()::nextLong);
  }

  @Override
  public void close() {
    registrations.close();
    domains.forEach(Domain::close);
    fabrics.forEach(Fabric::close);
  }
}

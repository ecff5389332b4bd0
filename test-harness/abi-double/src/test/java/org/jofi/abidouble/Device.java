package org.jofi.abidouble;

import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import org.agrona.concurrent.SystemNanoClock;
import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.status.CountersManager;
import org.agrona.concurrent.status.CountersReader;
import org.jofi.fabric.Domain;
import org.jofi.fabric.Fabric;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.FabricProvider;
import org.jofi.mr.DeviceRegistrations;
import org.jofi.mr.registration.CacheCounters;
import org.jofi.mr.registration.CacheLimits;
import org.jofi.mr.registration.RequestNames;

/** Domains over the double, and what is registered in them. */
final class Device implements AutoCloseable {
  private static final int COUNTERS = 16;

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
            counters(),
            RequestNames.NONE,
            new SecureRandom()::nextLong);
  }

  private static CacheCounters counters() {
    return new CacheCounters(
        new CountersManager(
            new UnsafeBuffer(ByteBuffer.allocateDirect(COUNTERS * CountersReader.METADATA_LENGTH)),
            new UnsafeBuffer(ByteBuffer.allocateDirect(COUNTERS * CountersReader.COUNTER_LENGTH))),
        "double");
  }

  @Override
  public void close() {
    registrations.close();
    domains.forEach(Domain::close);
    fabrics.forEach(Fabric::close);
  }
}

package org.jofi.nccl;

import java.util.List;
import java.util.Optional;
import org.jofi.fabric.MemoryKind;
import org.jofi.fabric.RegistrationScope;
import org.jofi.transport.DeviceLimits;
import org.jofi.transport.DeviceProperties;

/** A device as a test describes it. */
record FakeProperties(
    int index,
    String name,
    Optional<String> pciPath,
    long speedMegabitsPerSecond,
    List<Rail> rails,
    List<MemoryPath> memory)
    implements DeviceProperties {

  /** One of one NIC of host memory. */
  static FakeProperties of(int index, String nic) {
    return new FakeProperties(
        index,
        nic,
        Optional.empty(),
        1,
        List.of(new Rail(nic, "fabric", "", Optional.empty(), 1)),
        List.of(new MemoryPath(MemoryKind.HOST, true, "host")));
  }

  @Override
  public String provider() {
    return "efa";
  }

  @Override
  public long latencyNanos() {
    return 7_200;
  }

  @Override
  public int controlRails() {
    return 1;
  }

  @Override
  public RegistrationScope registrationScope() {
    return RegistrationScope.DOMAIN;
  }

  @Override
  public String immediateDelivery() {
    return "writes";
  }

  @Override
  public List<String> groupingReasons() {
    return List.of();
  }

  @Override
  public DeviceLimits limits() {
    return new Limits(1L << 40, 64, 8192, 1000, 128, 128, 16);
  }

  /** Its limits. */
  record Limits(
      long maxMessageBytes,
      int inlineWriteBytes,
      int eagerBytes,
      int communicators,
      int receivesInFlight,
      int sendsInFlight,
      int groupedReceives)
      implements DeviceLimits {}
}

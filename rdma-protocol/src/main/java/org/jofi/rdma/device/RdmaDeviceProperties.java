package org.jofi.rdma.device;

import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jofi.fabric.RegistrationScope;
import org.jofi.transport.DeviceLimits;
import org.jofi.transport.DeviceProperties;

/** What callers are told of a device. */
record RdmaDeviceProperties(
    int index,
    String name,
    String provider,
    Optional<String> pciPath,
    long speedMegabitsPerSecond,
    long latencyNanos,
    List<Rail> rails,
    int controlRails,
    RegistrationScope registrationScope,
    List<MemoryPath> memory,
    String immediateDelivery,
    DeviceLimits limits,
    List<String> groupingReasons)
    implements DeviceProperties {

  RdmaDeviceProperties {
    Objects.requireNonNull(name);
    Objects.requireNonNull(limits);
    rails = List.copyOf(rails);
    memory = List.copyOf(memory);
    groupingReasons = List.copyOf(groupingReasons);
    if (rails.isEmpty()) {
      throw new IllegalArgumentException("device %s has no rails".formatted(name));
    }
    if (controlRails != 1 && controlRails != rails.size()) {
      throw new IllegalArgumentException(
          "device %s of %d rails cannot have %d control rails"
              .formatted(name, rails.size(), controlRails));
    }
  }

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

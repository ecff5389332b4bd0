package org.jofi.rdma.device;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.jofi.fabric.Capability;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.MemoryKind;
import org.jofi.fabric.ProviderRelease;
import org.jofi.fabric.RegistrationScope;
import org.jofi.rdma.engine.Sender;
import org.jofi.rdma.operation.OperationSink;
import org.jofi.rdma.staging.StagingShape;
import org.jofi.rdma.topology.DeviceGroup;
import org.jofi.rdma.topology.PciPath;
import org.jofi.rdma.wire.EagerGrant;
import org.jofi.rdma.wire.Features;
import org.jofi.rdma.wire.ProtocolLimits;
import org.jofi.transport.DeviceLimits;
import org.jofi.transport.DeviceProperties;
import org.jofi.transport.ImmediateDelivery;
import org.jofi.transport.TransportOptions;
import org.jofi.transport.Tuning;

/**
 * What a device can do, decided once from its NICs and the options.
 *
 * @param group its NICs
 * @param release what peers are told of their provider
 * @param properties what callers are told
 * @param features what its connections offer: {@link Features}
 * @param progress whether its endpoints have progress threads
 */
public record DeviceProfile(
    DeviceGroup group,
    ProviderRelease release,
    DeviceProperties properties,
    long features,
    ProgressPlan progress) {
  private static final long MEGABIT = 1_000_000;

  /**
   * Decides.
   *
   * @param release what peers are told of the provider of its NICs
   * @param selected why its provider was chosen
   * @param staged whether there is a provider of CUDA memory, so that it can be staged
   */
  public static DeviceProfile of(
      int index,
      DeviceGroup group,
      ProviderRelease release,
      String selected,
      TransportOptions options,
      boolean staged,
      int processors) {
    boolean writesData = group.rails().stream().allMatch(FabricInfo::writesData);
    boolean announces = options.tuning().immediateDelivery() == ImmediateDelivery.WRITE_THEN_SEND;
    long features = 0;
    if (writesData && !announces) {
      features |= Features.WRITE_DATA;
    }
    if (options.tuning().immediateDelivery() != ImmediateDelivery.WRITE_DATA) {
      features |= Features.WRITE_THEN_SEND;
    }
    List<String> reasons = new ArrayList<>();
    reasons.add(selected);
    reasons.addAll(group.reasons());
    FabricInfo first = group.rails().getFirst();
    ProgressPlan progress = ProgressPlan.of(options, first.traits(), processors);
    reasons.addAll(progress.reasons());
    DeviceProperties properties =
        new Properties(
            index,
            group.name(),
            first.provider(),
            group.paths().getFirst().map(PciPath::toString),
            group.rails().stream().mapToLong(DeviceProfile::megabits).sum(),
            first.traits().latencyNanos(),
            IntStream.range(0, group.rails().size()).mapToObj(rail -> rail(group, rail)).toList(),
            options.tuning().controlOnAllRails() ? group.rails().size() : 1,
            first.registrationScope(),
            memory(group, staged && !options.requireGpuDirect()),
            delivery(writesData, announces),
            limits(group, options),
            List.copyOf(reasons));
    return new DeviceProfile(group, release, properties, features, progress);
  }

  /** The same with some of its rails alone, in that order; what callers are told stays. */
  DeviceProfile over(List<Integer> rails) {
    return new DeviceProfile(group.over(rails), release, properties, features, progress);
  }

  /**
   * A short message is copied by the processor, which cannot write into device memory that a NIC
   * writes into by itself.
   */
  private static int eagerBytes(DeviceGroup group, TransportOptions options) {
    int wanted =
        options.tuning().eagerBytes() == Tuning.EAGER_BY_PROVIDER
            ? group.rails().getFirst().traits().eagerBytes()
            : options.tuning().eagerBytes();
    return takesDeviceMemory(group) ? 0 : Math.min(wanted, StagingShape.USUAL.smallBytes());
  }

  public EagerGrant eager() {
    return EagerGrant.of(properties.limits().eagerBytes());
  }

  private static long megabits(FabricInfo nic) {
    long link = nic.nic().linkSpeedBitsPerSecond();
    return (link > 0 ? link : nic.traits().speedBitsPerSecond()) / MEGABIT;
  }

  /** What a provider does not tell of a NIC's place, the kernel does. */
  private static DeviceProperties.Rail rail(DeviceGroup group, int rail) {
    FabricInfo nic = group.rails().get(rail);
    return new DeviceProperties.Rail(
        nic.domainName(),
        nic.fabricName(),
        nic.address(),
        nic.nic().pci().or(() -> group.paths().get(rail).map(PciPath::address)),
        megabits(nic));
  }

  public boolean takesDeviceMemory() {
    return takesDeviceMemory(group);
  }

  private static boolean takesDeviceMemory(DeviceGroup group) {
    return group.rails().stream().allMatch(nic -> nic.has(Capability.HMEM));
  }

  private static List<DeviceProperties.MemoryPath> memory(DeviceGroup group, boolean staged) {
    List<DeviceProperties.MemoryPath> paths = new ArrayList<>();
    paths.add(new DeviceProperties.MemoryPath(MemoryKind.HOST, true, "host"));
    if (takesDeviceMemory(group)) {
      paths.add(
          new DeviceProperties.MemoryPath(
              MemoryKind.CUDA, true, "GPU direct, as the provider claims (FI_HMEM)"));
    } else if (staged) {
      // Whether there is a GPU is found out when memory of one is registered.
      paths.add(
          new DeviceProperties.MemoryPath(MemoryKind.CUDA, false, StagingShape.USUAL.toString()));
    }
    return List.copyOf(paths);
  }

  private static String delivery(boolean writesData, boolean announces) {
    if (announces) {
      return "write, then a send with the immediate data, as configured";
    }
    return writesData
        ? "write with immediate data (fi_writedata)"
        : "write, then a send with the immediate data: the provider has no fi_writedata";
  }

  private static DeviceLimits limits(DeviceGroup group, TransportOptions options) {
    long longest =
        group.rails().stream()
            .mapToLong(nic -> nic.limits().maxMessageBytes())
            .min()
            .orElse(options.maxMessageBytes());
    return new Limits(
        Math.min(longest, options.maxMessageBytes()),
        OperationSink.INLINE_BYTES,
        eagerBytes(group, options),
        ProtocolLimits.MAX_COMMUNICATOR,
        ProtocolLimits.RECEIVE_WINDOW,
        Sender.SENDS,
        ProtocolLimits.MAX_GROUP);
  }

  private record Properties(
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
      implements DeviceProperties {}

  private record Limits(
      long maxMessageBytes,
      int inlineWriteBytes,
      int eagerBytes,
      int communicators,
      int receivesInFlight,
      int sendsInFlight,
      int groupedReceives)
      implements DeviceLimits {}
}

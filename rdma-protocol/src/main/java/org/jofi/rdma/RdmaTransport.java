package org.jofi.rdma;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.FabricProvider;
import org.jofi.fabric.MemoryKind;
import org.jofi.mr.RegisteredArena;
import org.jofi.mr.registration.RegistrationException;
import org.jofi.mr.teardown.CloseSteps;
import org.jofi.mr.teardown.TeardownException;
import org.jofi.rdma.communicator.RdmaDevice;
import org.jofi.rdma.communicator.Refusal;
import org.jofi.rdma.device.DeviceProfile;
import org.jofi.rdma.device.NicSelection;
import org.jofi.rdma.spi.RdmaEnvironment;
import org.jofi.rdma.topology.DeviceGroup;
import org.jofi.rdma.topology.DeviceGrouping;
import org.jofi.rdma.topology.SysfsNet;
import org.jofi.rdma.topology.SysfsPci;
import org.jofi.transport.Device;
import org.jofi.transport.FailureCause;
import org.jofi.transport.Memory;
import org.jofi.transport.Transport;
import org.jofi.transport.TransportException;
import org.jofi.transport.TransportOptions;

/** The RDMA protocol over the NICs of a provider. Any thread. */
public final class RdmaTransport implements Transport {
  private final TransportOptions options;
  private final List<RdmaDevice> devices;

  private RdmaTransport(TransportOptions options, List<RdmaDevice> devices) {
    this.options = options;
    this.devices = List.copyOf(devices);
  }

  /**
   * Opens one. Its NICs are found now, and opened when a device is first used.
   *
   * @param provider whose NICs to use
   * @throws TransportException with {@link FailureCause#UNAVAILABLE} if no NIC is suitable, or
   *     {@link FailureCause#FABRIC} if they cannot be listed; the message says what was looked at
   */
  public static RdmaTransport open(
      FabricProvider provider, TransportOptions options, RdmaEnvironment environment) {
    SysfsPci pci = new SysfsPci(environment.sysfs());
    boolean drivesGpus = environment.deviceMemory().apply(MemoryKind.CUDA).isPresent();
    NicSelection selection =
        NicSelection.of(
            provider, options, new SysfsNet(environment.sysfs()), drivesGpus && pci.hasNvidiaGpu());
    DeviceGrouping grouping = DeviceGrouping.of(environment.sysfs(), options.maxRails());
    List<RdmaDevice> devices = new ArrayList<>();
    for (DeviceGroup group : grouping.group(selection.nics(), options.grouping())) {
      DeviceProfile profile =
          DeviceProfile.of(
              devices.size(),
              group,
              provider.release(group.rails().getFirst()),
              selection.reason(),
              options,
              drivesGpus,
              environment.processors());
      devices.add(new RdmaDevice(provider, profile, options, environment));
    }
    return new RdmaTransport(options, devices);
  }

  @Override
  public List<Device> devices() {
    return List.copyOf(devices);
  }

  @Override
  public TransportOptions options() {
    return options;
  }

  @Override
  public Arena openArena() {
    return new TransportArena(
        new RegisteredArena(
            () -> devices.stream().flatMap(device -> device.registrations().stream()).toList()));
  }

  @Override
  public void forget(Memory memory) {
    try {
      devices.forEach(device -> device.forget(memory));
    } catch (RegistrationException | FabricException e) {
      throw new TransportException(
          Refusal.cause(e, FailureCause.FABRIC), String.valueOf(e.getMessage()), e);
    }
  }

  /**
   * Makes progress on every open endpoint once. So peers get answers even if no thread uses their
   * communicator now, and time limits are checked. Then it closes some of what is kept registered
   * of memory that was freed. It blocks as long as another thread holds an endpoint's lock, and the
   * NICs take for that.
   *
   * @return how many events there were
   */
  public int tend() {
    int events = 0;
    for (RdmaDevice device : devices) {
      events += device.tend();
    }
    return events;
  }

  @Override
  public void close() {
    CloseSteps steps = new CloseSteps();
    devices.forEach(device -> steps.step(device::startClosing));
    devices.forEach(device -> steps.step(device::close));
    try {
      steps.end();
    } catch (TeardownException | FabricException e) {
      throw new TransportException(FailureCause.FABRIC, String.valueOf(e.getMessage()), e);
    }
  }

  private record TransportArena(RegisteredArena memory) implements Arena {

    @Override
    public MemorySegment allocate(long byteSize, long byteAlignment) {
      return memory.allocate(byteSize, byteAlignment);
    }

    @Override
    public MemorySegment.Scope scope() {
      return memory.scope();
    }

    @Override
    public void close() {
      try {
        memory.close();
      } catch (RegistrationException | FabricException e) {
        throw new TransportException(
            Refusal.cause(e, FailureCause.FABRIC), String.valueOf(e.getMessage()), e);
      }
    }
  }
}

package org.jofi.rdma.communicator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.agrona.concurrent.NoOpIdleStrategy;
import org.jofi.fabric.DeviceMemoryProvider;
import org.jofi.fabric.ProviderRelease;
import org.jofi.fabric.RegistrationScope;
import org.jofi.rdma.RdmaTransport;
import org.jofi.rdma.spi.RdmaEnvironment;
import org.jofi.rdma.wire.ProtocolLimits;
import org.jofi.simulated.Simulation;
import org.jofi.simulated.profile.Profile;
import org.jofi.transport.ConnectAttempt;
import org.jofi.transport.ConnectHandle;
import org.jofi.transport.Device;
import org.jofi.transport.DeviceProperties;
import org.jofi.transport.FailureCause;
import org.jofi.transport.Grouping;
import org.jofi.transport.ImmediateDelivery;
import org.jofi.transport.TransportException;
import org.jofi.transport.TransportOptions;
import org.jofi.transport.Tuning;
import org.junit.jupiter.api.Test;

class DevicesTest {
  private static RdmaTransport open(Simulation simulation, TransportOptions options) {
    return RdmaTransport.open(
        simulation.host(0).provider(),
        options,
        new RdmaEnvironment(
            simulation::nanoTime,
            () -> 4,
            NoOpIdleStrategy::new,
            4096,
            Path.of("no-sysfs"),
            DeviceMemoryProvider::of));
  }

  private static String unavailable(Simulation simulation, TransportOptions options) {
    TransportException refused =
        assertThrows(TransportException.class, () -> open(simulation, options));
    assertEquals(FailureCause.UNAVAILABLE, refused.failure().cause());
    return String.valueOf(refused.getMessage());
  }

  @Test
  void propertiesAreWhatTheNicsNegotiated() {
    try (Simulation simulation = Simulation.of(Profile.CXI).nicsPerHost(2).open();
        RdmaTransport transport =
            open(
                simulation, TransportOptions.builder().grouping(new Grouping.Together()).build())) {
      DeviceProperties device = transport.devices().getFirst().properties();
      assertEquals(2, device.rails().size());
      assertEquals(2, device.controlRails());
      assertEquals(RegistrationScope.ENDPOINT, device.registrationScope());
      assertEquals(
          device.rails().stream().mapToLong(DeviceProperties.Rail::speedMegabitsPerSecond).sum(),
          device.speedMegabitsPerSecond());
      assertTrue(device.groupingReasons().size() >= 2, () -> device.groupingReasons().toString());
    }
  }

  @Test
  void eachNicIsADeviceIfSoConfigured() {
    try (Simulation simulation = Simulation.of(Profile.EFA).nicsPerHost(3).open();
        RdmaTransport transport =
            open(
                simulation,
                TransportOptions.builder()
                    .grouping(new Grouping.EachNic())
                    .tuning(Tuning.DEFAULT.withControlOnAllRails(false))
                    .build())) {
      assertEquals(3, transport.devices().size());
      assertEquals(
          List.of(0, 1, 2),
          transport.devices().stream().map(device -> device.properties().index()).toList());
    }
  }

  @Test
  void whatIsDemandedAndNotThereIsSaid() {
    try (Simulation simulation = Simulation.of(Profile.CXI_CLIENT_KEY).open()) {
      String delivery =
          unavailable(
              simulation,
              TransportOptions.builder()
                  .tuning(Tuning.DEFAULT.withImmediateDelivery(ImmediateDelivery.WRITE_DATA))
                  .build());
      assertTrue(delivery.contains("fi_writedata"), delivery);
      String provider =
          unavailable(simulation, TransportOptions.builder().provider("nonesuch").build());
      assertTrue(provider.contains("'nonesuch'") && provider.contains("simulated-cxi"), provider);
    }
    try (Simulation simulation = Simulation.of(Profile.TCP).open()) {
      String gpu =
          unavailable(simulation, TransportOptions.builder().requireGpuDirect(true).build());
      assertTrue(gpu.contains("FI_HMEM"), gpu);
    }
  }

  @Test
  void anAttemptThatNobodyAnswersTimesOut() {
    try (Simulation simulation = Simulation.of(Profile.TCP).hosts(2).open();
        RdmaTransport transport =
            open(
                simulation,
                TransportOptions.builder().connectTimeout(Duration.ofMillis(50)).build());
        RdmaTransport deaf =
            RdmaTransport.open(
                simulation.host(1).provider(),
                TransportOptions.defaults(),
                new RdmaEnvironment(
                    simulation::nanoTime,
                    () -> 5,
                    NoOpIdleStrategy::new,
                    4096,
                    Path.of("no-sysfs"),
                    DeviceMemoryProvider::of))) {
      ConnectHandle handle = deaf.devices().getFirst().listen().handle();
      ConnectAttempt attempt = transport.devices().getFirst().connect(handle);
      TransportException failure =
          assertThrows(
              TransportException.class,
              () -> {
                while (attempt.poll() == null) {
                  simulation.idle();
                }
              });
      assertEquals(FailureCause.TIMED_OUT, failure.failure().cause());
    }
  }

  /** Nothing leaves for a listener that speaks something else; both ends are named. */
  @Test
  void aListenerThatSpeaksSomethingElseIsNotAsked() {
    try (Simulation simulation = Simulation.of(Profile.TCP).open();
        RdmaTransport transport = open(simulation, TransportOptions.defaults())) {
      Device device = transport.devices().getFirst();
      ConnectHandle own = device.listen().handle();
      assertEquals(new ProviderRelease("simulated-tcp", 0, 0), own.release());
      assertEquals(ProtocolLimits.VERSION, own.protocol());
      device.connect(own).close();
      long operations = simulation.operations();
      String provider =
          refusal(device, own, own.protocol(), new ProviderRelease("simulated-efa", 2, 5));
      assertTrue(
          provider.contains("simulated-efa of libfabric 2.5")
              && provider.contains("device tcp0 (simulated-tcp)")
              && provider.contains("do not understand each other"),
          provider);
      String protocol = refusal(device, own, own.protocol() + 1, own.release());
      assertTrue(
          protocol.contains(
              "the listener speaks version %d of jofi's protocol, this side version %d"
                  .formatted(own.protocol() + 1, own.protocol())),
          protocol);
      assertEquals(operations, simulation.operations());
    }
  }

  private static String refusal(
      Device device, ConnectHandle own, int protocol, ProviderRelease release) {
    ConnectHandle other =
        ConnectHandle.of(own.listener(), own.nonce(), List.of(own.address(0)), protocol, release);
    TransportException refused =
        assertThrows(TransportException.class, () -> device.connect(other));
    assertEquals(FailureCause.INCOMPATIBLE, refused.failure().cause());
    return String.valueOf(refused.getMessage());
  }
}

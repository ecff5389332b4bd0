package org.jofi.nccl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jofi.transport.Device;
import org.jofi.transport.DeviceProperties;
import org.jofi.transport.FailureCause;
import org.jofi.transport.TransportException;
import org.junit.jupiter.api.Test;

class DeviceWarmUpsTest {
  private final List<String> said = new ArrayList<>();
  private final DeviceWarmUps warmUps =
      new DeviceWarmUps(
          new PluginLog() {
            @Override
            public void warn(String message) {
              said.add("warning: " + message);
            }

            @Override
            public void info(String message) {
              said.add(message);
            }
          });

  /** A device that cannot be opened. */
  private static Device broken(int index) {
    DeviceProperties properties = FakeProperties.of(index, "nic" + index);
    return (Device)
        Proxy.newProxyInstance(
            Device.class.getClassLoader(),
            new Class<?>[] {Device.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("properties")) {
                return properties;
              }
              throw new TransportException(FailureCause.FABRIC, "no such NIC");
            });
  }

  @Test
  void aFailureIsLoggedOnceForEachDeviceAndNotThrown() {
    warmUps.allow(Duration.ofMillis(100));
    warmUps.before(broken(0));
    warmUps.before(broken(0));
    warmUps.before(broken(1));
    assertEquals(2, said.size(), said::toString);
    assertTrue(said.getFirst().startsWith("device 0: warmed up with 0 messages"), said::toString);
    assertTrue(said.getFirst().endsWith("; then: no such NIC"), said::toString);
    assertTrue(said.getLast().startsWith("device 1: "), said::toString);
  }

  @Test
  void noneHappenUnlessTheyAreAllowed() {
    warmUps.before(broken(0));
    warmUps.allow(Duration.ZERO);
    warmUps.before(broken(0));
    assertEquals(List.of(), said);
  }
}

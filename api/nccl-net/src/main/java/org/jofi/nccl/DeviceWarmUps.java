package org.jofi.nccl;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jofi.transport.Device;
import org.jofi.transport.WarmUp;

/**
 * Warms up each device once in the life of the process, when NCCL first listens on it or connects
 * from it: NCCL uses few of the devices, and a warm-up opens its device. Any thread.
 */
final class DeviceWarmUps {
  private final PluginLog log;
  private final Set<Integer> begun = ConcurrentHashMap.newKeySet();
  private volatile Duration atMost = Duration.ZERO;

  /** None happen until {@link #allow} is called. */
  DeviceWarmUps(PluginLog log) {
    this.log = log;
  }

  /** Sets how long each may take; 0 turns them off. */
  void allow(Duration each) {
    atMost = each;
  }

  /**
   * Called before a device listens or connects. Only the first thread with a device warms it up,
   * and others do not wait for it. A warm-up that fails is logged: nothing depends on it.
   */
  void before(Device device) {
    if (atMost.isZero() || !begun.add(device.properties().index())) {
      return;
    }
    String name = "device %d: ".formatted(device.properties().index());
    try {
      log.info(name + WarmUp.of(device, atMost));
    } catch (RuntimeException failed) {
      log.info(name + "no warm-up: " + failed);
    }
  }
}

package org.jofi.transport;

import java.util.List;

/** How NICs are grouped into devices. */
public sealed interface Grouping {

  /**
   * One device per set of NICs that are close to the same GPUs or, without GPUs, to the same
   * processor, according to sysfs.
   */
  record ByLocality() implements Grouping {}

  /** One device per NIC. */
  record EachNic() implements Grouping {}

  /** A device for all NICs that fit together; several if they are more than a device may have. */
  record Together() implements Grouping {}

  /**
   * The devices that are listed; other NICs are not used. A NIC that is listed several times is
   * opened several times.
   *
   * @param devices names of NICs, per device; 1 to 8 each
   */
  record Explicit(List<List<String>> devices) implements Grouping {
    /**
     * Copies and checks the lists.
     *
     * @throws IllegalArgumentException if no device is listed, or one has no NIC or more than 8
     */
    public Explicit {
      devices = devices.stream().map(List::copyOf).toList();
      if (devices.isEmpty()) {
        throw new IllegalArgumentException("explicit grouping lists no device");
      }
      for (List<String> device : devices) {
        if (device.isEmpty() || device.size() > TransportOptions.MAX_RAILS) {
          throw new IllegalArgumentException(
              "a device has 1 to %d rails, not %d: %s"
                  .formatted(TransportOptions.MAX_RAILS, device.size(), device));
        }
      }
    }
  }
}

package org.jofi.transport;

import java.util.List;

/** How NICs become devices. */
public sealed interface Grouping {

  /** NICs close to the same GPUs, or without GPUs to the same processor, by what sysfs tells. */
  record ByLocality() implements Grouping {}

  /** Every NIC a device. */
  record EachNic() implements Grouping {}

  /** All NICs that fit together in one device. */
  record Together() implements Grouping {}

  /**
   * As listed, and NICs that are not listed are not used. A NIC may be repeated: it is opened as
   * often.
   *
   * @param devices names of NICs, per device; 1 to 8 each
   */
  record Explicit(List<List<String>> devices) implements Grouping {
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

package org.jofi.fabric;

import java.util.Optional;

/**
 * What a provider tells of the NIC behind a domain: fi_nic(3). Software providers tell nothing.
 *
 * @param device name of the device, such as {@code cxi0}, if told
 * @param driver name of its driver, if told
 * @param firmware its firmware version, if told
 * @param pci where it sits, if told
 * @param linkSpeedBitsPerSecond speed of the link; 0 if unknown
 * @param mtuBytes largest packet; 0 if unknown
 * @param linkUp whether the link is up; empty if unknown
 */
public record NicAttributes(
    Optional<String> device,
    Optional<String> driver,
    Optional<String> firmware,
    Optional<PciAddress> pci,
    long linkSpeedBitsPerSecond,
    long mtuBytes,
    Optional<Boolean> linkUp) {

  /** Nothing told. */
  public static final NicAttributes UNKNOWN =
      new NicAttributes(
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          0,
          0,
          Optional.empty());
}

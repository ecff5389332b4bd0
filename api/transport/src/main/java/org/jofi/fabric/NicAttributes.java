package org.jofi.fabric;

import java.util.Optional;

/**
 * What a provider reports about the NIC of a domain: fi_nic(3). Software providers report nothing.
 *
 * @param device name of the device, such as {@code cxi0}, if reported
 * @param driver name of its driver, if reported
 * @param firmware its firmware version, if reported
 * @param pci its PCI address, if reported
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

  /** Attributes of which none is reported. */
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

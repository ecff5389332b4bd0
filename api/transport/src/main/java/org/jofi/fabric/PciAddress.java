package org.jofi.fabric;

/**
 * The PCI address of a device: domain, bus, device, function. Each is 0 or more.
 *
 * @param domain number of the PCI domain
 * @param bus number of the bus in the domain
 * @param device number of the device on the bus
 * @param function number of the function of the device
 */
public record PciAddress(int domain, int bus, int device, int function) {
  @Override
  public String toString() {
    return "%04x:%02x:%02x.%x".formatted(domain, bus, device, function);
  }
}

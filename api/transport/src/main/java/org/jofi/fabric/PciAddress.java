package org.jofi.fabric;

/** The PCI address of a device: domain, bus, device, function. Each is 0 or more. */
public record PciAddress(int domain, int bus, int device, int function) {
  @Override
  public String toString() {
    return "%04x:%02x:%02x.%x".formatted(domain, bus, device, function);
  }
}

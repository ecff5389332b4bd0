package org.jofi.cuda;

/**
 * An address of GPU memory: CUdeviceptr. The processor cannot follow it.
 *
 * @param address as the driver gave it, or within what it gave; not 0
 */
public record DevicePointer(long address) {

  public DevicePointer {
    if (address == 0) {
      throw new IllegalArgumentException("no GPU memory is at address 0");
    }
  }

  /** The address that many bytes on. */
  public DevicePointer plus(long bytes) {
    return new DevicePointer(address + bytes);
  }

  @Override
  public String toString() {
    return "GPU 0x" + Long.toHexString(address);
  }
}

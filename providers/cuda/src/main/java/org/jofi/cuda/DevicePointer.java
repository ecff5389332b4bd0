package org.jofi.cuda;

/**
 * An address of GPU memory: CUdeviceptr. The CPU cannot access memory through it.
 *
 * @param address an address that the driver returned, or one within such an allocation; not 0
 */
public record DevicePointer(long address) {

  public DevicePointer {
    if (address == 0) {
      throw new IllegalArgumentException("no GPU memory is at address 0");
    }
  }

  /** The address this many bytes further. */
  public DevicePointer plus(long bytes) {
    return new DevicePointer(address + bytes);
  }

  @Override
  public String toString() {
    return "GPU 0x" + Long.toHexString(address);
  }
}

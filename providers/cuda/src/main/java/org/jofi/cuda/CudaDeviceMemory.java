package org.jofi.cuda;

import org.jofi.fabric.DeviceAdder;
import org.jofi.fabric.DeviceAllocation;
import org.jofi.fabric.DeviceCopier;
import org.jofi.fabric.DeviceMemory;
import org.jofi.fabric.DeviceProbe;
import org.jofi.fabric.DmaBuf;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.MemoryKind;

/** The memory of a GPU, as the transport uses it. Any thread. */
final class CudaDeviceMemory implements DeviceMemory {
  private final CudaContext context;
  private final DeviceProbe.Device description;

  CudaDeviceMemory(CudaContext context) {
    this.context = context;
    this.description = CudaDevices.describe(context.ordinal());
  }

  @Override
  public MemoryKind kind() {
    return MemoryKind.CUDA;
  }

  @Override
  public DeviceProbe.Device description() {
    return description;
  }

  @Override
  public long allocate(long bytes) {
    return context.allocate(bytes).address();
  }

  @Override
  public void free(long address) {
    context.free(new DevicePointer(address));
  }

  @Override
  public DeviceAllocation allocation(long address) {
    PointerAttributes found = context.attributes(new DevicePointer(address));
    if (found.kind() == PointerAttributes.Kind.MANAGED) {
      throw new FabricException(
          "cuPointerGetAttribute",
          FabricErrno.EOPNOTSUPP,
          "managed memory moves between host and device: allocate with cuMemAlloc or cudaMalloc",
          context.where("0x" + Long.toHexString(address)));
    }
    boolean host = found.kind() == PointerAttributes.Kind.HOST;
    return new DeviceAllocation(
        host ? MemoryKind.HOST : MemoryKind.CUDA,
        host ? 0 : found.device(),
        found.base(),
        found.lengthBytes(),
        found.allocationId());
  }

  @Override
  public DmaBuf exportDmaBuf(long address, long lengthBytes) {
    return context.exportDmaBuf(new DevicePointer(address), lengthBytes);
  }

  @Override
  public void closeDmaBuf(DmaBuf exported) {
    context.closeDmaBuf(exported);
  }

  @Override
  public void pin(long hostAddress, long bytes) {
    context.pin(hostAddress, bytes);
  }

  @Override
  public void unpin(long hostAddress) {
    context.unpin(hostAddress);
  }

  @Override
  public int flushRemoteWrites() {
    return context.flushRemoteWrites();
  }

  @Override
  public void copyToHost(long deviceAddress, long hostAddress, long bytes) {
    context.copyToHost(new DevicePointer(deviceAddress), hostAddress, bytes);
  }

  @Override
  public void copyFromHost(long hostAddress, long deviceAddress, long bytes) {
    context.copyFromHost(hostAddress, new DevicePointer(deviceAddress), bytes);
  }

  @Override
  public DeviceCopier openCopier(int copies) {
    return context.openStream(copies);
  }

  @Override
  public DeviceAdder openAdder() {
    return context.openAdder();
  }

  @Override
  public void close() {
    context.close();
  }

  @Override
  public String toString() {
    return description.name() + " (CUDA device " + description.ordinal() + ")";
  }
}

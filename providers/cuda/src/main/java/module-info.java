/** GPU memory over the CUDA driver API. Loads no driver until it is asked for one. */
module org.jofi.cuda {
  requires static org.jspecify;
  requires transitive org.jofi.transport;
  requires org.jofi.cuda.bindings;

  provides org.jofi.fabric.DeviceMemoryProvider with
      org.jofi.cuda.CudaDeviceMemoryProvider;
}

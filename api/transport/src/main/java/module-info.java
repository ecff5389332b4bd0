/** What a collective library calls and what a provider implements. */
@SuppressWarnings("module") // Those that it opens up to are built after it.
module org.jofi.transport {
  requires static org.jspecify;
  requires jdk.jfr;

  exports org.jofi.counters;
  exports org.jofi.counters.written to
      org.jofi.mr,
      org.jofi.rdma;
  exports org.jofi.fabric;
  exports org.jofi.transport;
  exports org.jofi.transport.diagnostics to
      org.jofi.async,
      org.jofi.cli,
      org.jofi.collectives,
      org.jofi.libfabric,
      org.jofi.mr,
      org.jofi.rdma;
  exports org.jofi.transport.driven to
      org.jofi.nccl,
      org.jofi.rdma;

  uses org.jofi.fabric.DeviceMemoryProvider;
  uses org.jofi.fabric.FabricProvider;
  uses org.jofi.transport.TransportProvider;
}

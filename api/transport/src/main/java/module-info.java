/** What a collective library calls and what a provider implements. */
module org.jofi.transport {
  requires static org.jspecify;

  exports org.jofi.fabric;
  exports org.jofi.transport;

  uses org.jofi.fabric.DeviceMemoryProvider;
  uses org.jofi.fabric.FabricProvider;
  uses org.jofi.transport.TransportProvider;
}

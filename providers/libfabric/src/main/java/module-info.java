/** The provider over libfabric.so.1. */
module org.jofi.libfabric {
  requires static org.jspecify;
  requires org.jofi.transport;
  requires org.jofi.libfabric.bindings;

  provides org.jofi.fabric.FabricProvider with
      org.jofi.libfabric.LibfabricProvider;
}

/** The provider over libfabric.so.1. */
@SuppressWarnings("module") // What stands in for the library in tests is built after this.
module org.jofi.libfabric {
  requires static org.jspecify;
  requires org.jofi.transport;
  requires org.jofi.libfabric.bindings;

  exports org.jofi.libfabric to
      org.jofi.abidouble;

  provides org.jofi.fabric.FabricProvider with
      org.jofi.libfabric.LibfabricProvider;
}

/** A provider that enforces FI_MR_ENDPOINT at the C boundary, over one that knows nothing of it. */
module org.jofi.abidouble {
  requires static org.jspecify;
  requires transitive org.jofi.transport;
  requires org.jofi.libfabric;
  requires org.jofi.libfabric.bindings;

  exports org.jofi.abidouble;
}

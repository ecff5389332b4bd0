/** What a collective library calls and what a provider implements. */
module org.jofi.transport {
  requires static transitive org.jspecify;

  exports org.jofi.fabric;

  uses org.jofi.fabric.FabricProvider;
}

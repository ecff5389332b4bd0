/** The command line. */
module org.jofi.cli {
  requires static org.jspecify;
  requires com.google.gson;
  requires info.picocli;
  requires org.jofi.transport;
  requires org.jofi.rdma;
  requires org.jofi.simulated;

  uses org.jofi.fabric.FabricProvider;

  opens org.jofi.cli to
      info.picocli;
}

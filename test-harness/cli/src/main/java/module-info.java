/** The command line. */
module org.jofi.cli {
  requires static org.jspecify;
  requires chronicle.core;
  requires com.google.gson;
  requires info.picocli;
  requires java.management;
  requires org.jofi.doctor;
  requires org.jofi.collectives;
  requires org.jofi.conformance;
  requires org.jofi.nccl;
  requires org.jofi.transport;
  requires org.jofi.rdma;
  requires org.jofi.simulated;

  uses org.jofi.fabric.FabricProvider;

  opens org.jofi.cli to
      info.picocli;
  opens org.jofi.cli.ranks to
      com.google.gson;
  opens org.jofi.cli.soak to
      com.google.gson;
}

/** The command line. */
module org.jofi.cli {
  requires static org.jspecify;
  requires info.picocli;
  requires org.jofi.transport;
  requires org.jofi.rdma;

  opens org.jofi.cli to
      info.picocli;
}

/** Communicators over multi-rail endpoints. */
@SuppressWarnings("module") // Those that it opens up to are built after it.
module org.jofi.rdma {
  requires jdk.jfr;
  requires static org.jspecify;
  requires org.agrona;
  requires transitive org.jofi.transport;
  requires org.jofi.mr;

  exports org.jofi.rdma.spi to
      org.jofi.cli,
      org.jofi.doctor;
  exports org.jofi.rdma.topology to
      org.jofi.doctor;

  provides org.jofi.transport.TransportProvider with
      org.jofi.runtime.JofiTransports;
}

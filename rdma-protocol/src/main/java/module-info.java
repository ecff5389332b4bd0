/** Communicators over multi-rail endpoints. */
@SuppressWarnings("module") // The doctor is built after this module.
module org.jofi.rdma {
  requires static transitive org.jspecify;
  requires transitive org.jofi.transport;
  requires org.jofi.mr;

  exports org.jofi.rdma;
  exports org.jofi.rdma.spi;
  exports org.jofi.runtime;
  exports org.jofi.rdma.topology to
      org.jofi.doctor;

  provides org.jofi.transport.TransportProvider with
      org.jofi.runtime.JofiTransports;
}

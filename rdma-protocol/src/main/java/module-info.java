/** Communicators over multi-rail endpoints. */
module org.jofi.rdma {
  requires static transitive org.jspecify;
  requires transitive org.jofi.transport;
  requires org.jofi.mr;

  exports org.jofi.rdma;
}

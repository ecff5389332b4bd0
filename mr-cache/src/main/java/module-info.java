/** Registrations by role and scope, and the registration cache. */
@SuppressWarnings("module") // The protocol is built after it.
module org.jofi.mr {
  requires jdk.jfr;
  requires static org.jspecify;
  requires org.agrona;
  requires transitive org.jofi.transport;

  exports org.jofi.mr to
      org.jofi.rdma;
  exports org.jofi.mr.registration to
      org.jofi.rdma;
  exports org.jofi.mr.scope to
      org.jofi.rdma;
  exports org.jofi.mr.teardown to
      org.jofi.rdma;
}

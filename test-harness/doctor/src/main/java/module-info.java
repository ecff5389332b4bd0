/** Diagnosis of a machine for RDMA between NICs and GPUs. */
@SuppressWarnings("module") // The command line is built after it.
module org.jofi.doctor {
  requires static org.jspecify;
  requires java.management;
  requires transitive org.jofi.rdma;
  requires transitive org.jofi.transport;

  exports org.jofi.doctor to
      org.jofi.cli;
  exports org.jofi.doctor.machine to
      org.jofi.cli;
}

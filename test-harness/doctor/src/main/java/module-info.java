/** Diagnosis of a machine for RDMA between NICs and GPUs. */
module org.jofi.doctor {
  requires static transitive org.jspecify;
  requires java.management;
  requires transitive org.jofi.rdma;
  requires transitive org.jofi.transport;

  exports org.jofi.doctor;
  exports org.jofi.doctor.machine;
}

/** Registrations by role and scope, and the registration cache. */
module org.jofi.mr {
  requires static transitive org.jspecify;
  requires transitive org.jofi.transport;
}

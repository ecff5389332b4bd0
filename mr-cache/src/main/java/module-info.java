/** Registrations by role and scope, and the registration cache. */
@SuppressWarnings("requires-transitive-automatic")
module org.jofi.mr {
  requires jdk.jfr;
  requires static transitive org.jspecify;
  requires transitive org.agrona;
  requires transitive org.jofi.transport;

  exports org.jofi.mr;
  exports org.jofi.mr.registration;
  exports org.jofi.mr.scope;
  exports org.jofi.mr.teardown;
}

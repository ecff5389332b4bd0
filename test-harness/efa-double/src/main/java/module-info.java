/** An EFA device without hardware, for tests. */
module org.jofi.efadouble {
  requires transitive org.jofi.nicdouble;
  requires static org.jspecify;

  exports org.jofi.efadouble;
}

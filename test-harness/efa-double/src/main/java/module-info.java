/** An EFA device without hardware, for tests. */
module org.jofi.efadouble {
  requires static org.jspecify;
  requires static org.junit.jupiter.api;

  exports org.jofi.efadouble;
}

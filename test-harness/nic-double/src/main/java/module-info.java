/** What NICs without hardware share, for tests. */
module org.jofi.nicdouble {
  requires static org.jspecify;
  requires static org.junit.jupiter.api;

  exports org.jofi.nicdouble;
}

/** An InfiniBand adapter without hardware, for tests. */
module org.jofi.verbsdouble {
  requires transitive org.jofi.nicdouble;
  requires static org.jspecify;

  exports org.jofi.verbsdouble;
}

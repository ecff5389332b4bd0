/** Collective operations over communicators, and ranks that find each other to connect them. */
module org.jofi.collectives {
  requires static org.jspecify;
  requires jdk.net;
  requires transitive org.jofi.transport;

  exports org.jofi.collectives;
  exports org.jofi.collectives.schedule;
  exports org.jofi.ranks;
}

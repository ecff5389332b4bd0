/** Contract suites that any provider of the fabric SPI can be run through. */
module org.jofi.conformance {
  requires static org.jspecify;
  requires static transitive org.junit.jupiter.api;
  requires static org.apiguardian.api;
  requires java.xml;
  requires transitive org.jofi.transport;
  requires org.jofi.simulated;

  exports org.jofi.conformance;
  exports org.jofi.conformance.bench;
  exports org.jofi.conformance.rule;
  exports org.jofi.conformance.subject;

  uses org.jofi.fabric.FabricProvider;
}

/** An in-process fabric that is strict about contracts, and misbehaves on demand from a seed. */
module org.jofi.simulated {
  requires static org.jspecify;
  requires transitive org.jofi.transport;
  requires org.agrona;

  exports org.jofi.simulated;
  exports org.jofi.simulated.contract;
  exports org.jofi.simulated.fault;
  exports org.jofi.simulated.profile;
  exports org.jofi.simulated.stall;
  exports org.jofi.simulated.workload;

  provides org.jofi.fabric.FabricProvider with
      org.jofi.simulated.SimulatedProvider;
}

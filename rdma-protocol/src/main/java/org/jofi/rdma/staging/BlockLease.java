package org.jofi.rdma.staging;

import java.lang.foreign.MemorySegment;
import org.jofi.mr.registration.DataRegistration;

/** Registers blocks with a communicator's NICs. */
@FunctionalInterface
public interface BlockLease {

  /**
   * Registers memory, for local use and for peers; who asked releases it.
   *
   * @throws org.jofi.mr.registration.RegistrationException if a NIC refuses
   */
  DataRegistration register(MemorySegment memory);
}

package org.jofi.rdma.operation;

import org.jofi.mr.registration.Descriptors;

/** A copy of bytes that are written inline, in memory that is registered on the data rails. */
public interface InlineCopy extends Descriptors {

  long address();

  /** Gives it back; without effect once the endpoint is closed, which took all of them back. */
  void give();
}

package org.jofi.mr.recording;

import org.jofi.fabric.AddressVector;
import org.jofi.fabric.FabricErrno;

/** An address vector without addresses, which knows the endpoints that use it. */
final class RecordingTable implements AddressVector {
  private final RecordingDomain domain;
  int users;

  RecordingTable(RecordingDomain domain) {
    this.domain = domain;
  }

  @Override
  public long insert(byte[] address) {
    return 0;
  }

  @Override
  public void remove(long peer) {
    throw new IllegalArgumentException("no peer " + peer);
  }

  @Override
  public void close() {
    synchronized (domain.fabric) {
      if (users > 0) {
        throw domain.fabric.violation(
            FabricErrno.EBUSY, domain, "address vector closed before its endpoint");
      }
      domain.children.remove(this);
    }
  }
}

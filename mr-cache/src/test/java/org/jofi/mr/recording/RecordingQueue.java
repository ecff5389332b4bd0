package org.jofi.mr.recording;

import org.jofi.fabric.CompletionQueue;
import org.jofi.fabric.FabricErrno;

/** A completion queue without completions, which knows the endpoints bound to it. */
final class RecordingQueue implements CompletionQueue {
  private final RecordingDomain domain;
  private final int contexts;
  int users;

  RecordingQueue(RecordingDomain domain, int contexts) {
    this.domain = domain;
    this.contexts = contexts;
  }

  @Override
  public int poll(Sink sink, int limit) {
    return 0;
  }

  @Override
  public int contexts() {
    return contexts;
  }

  @Override
  public void close() {
    synchronized (domain.fabric) {
      if (users > 0) {
        throw domain.fabric.violation(
            FabricErrno.EBUSY, domain, "completion queue closed before its endpoint");
      }
      domain.children.remove(this);
    }
  }
}

package org.jofi.simulated.engine;

import org.jofi.simulated.registration.RegisteredMemory;
import org.jspecify.annotations.Nullable;

/** A buffer that waits for a message. Pooled by its {@link PostedReceives}. */
final class PostedReceive {
  long address;
  long length;
  @Nullable RegisteredMemory region;
  long peer;
  int context;
}

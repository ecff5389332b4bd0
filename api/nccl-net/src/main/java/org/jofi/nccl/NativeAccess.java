package org.jofi.nccl;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Whether the JVM lets the plugin call native code. The plugin's own JVM does; one that the host
 * program made may not.
 */
final class NativeAccess {
  private NativeAccess() {}

  /**
   * Tries it. Called through JNI, before anything else.
   *
   * @return the JVM's words if it denies it; null if it allows it, perhaps with a warning
   */
  @SuppressWarnings({"unused", "restricted"})
  private static @Nullable String refusal() {
    try {
      MemorySegment.NULL.reinterpret(Long.BYTES);
      return null;
    } catch (IllegalCallerException denied) {
      return denied.getMessage();
    }
  }
}

package org.jofi.mr.cache;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The arenas that are about to free their memory, which nobody may register any more: on no device,
 * not even on one that is opened meanwhile. So there is one set of them in the process. Any thread.
 */
public final class ClosingArenas {
  private static final Set<MemorySegment.Scope> CLOSING = ConcurrentHashMap.newKeySet();

  private ClosingArenas() {}

  /** Its memory cannot be registered until {@link #remove}. */
  public static void add(MemorySegment.Scope arena) {
    CLOSING.add(arena);
  }

  /** It was closed, or is not going to be. */
  public static void remove(MemorySegment.Scope arena) {
    CLOSING.remove(arena);
  }

  static boolean contains(MemorySegment.Scope arena) {
    return CLOSING.contains(arena);
  }
}

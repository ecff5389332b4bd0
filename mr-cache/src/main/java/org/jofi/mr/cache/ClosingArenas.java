package org.jofi.mr.cache;

import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The arenas that are about to free their memory, which nobody may register any more: on no device,
 * not even on one that is opened meanwhile. So there is one list of them in the process. Any
 * thread.
 */
public final class ClosingArenas {
  /** By arena, whether it is decided that it closes. */
  private static final Map<MemorySegment.Scope, Boolean> CLOSING = new ConcurrentHashMap<>();

  private ClosingArenas() {}

  /** It closes unless its memory is in use: who wants to register it waits for that. */
  public static void add(MemorySegment.Scope arena) {
    CLOSING.put(arena, false);
  }

  /** It will close, now or when that is tried again: its memory cannot be registered any more. */
  public static void decide(MemorySegment.Scope arena) {
    CLOSING.put(arena, true);
  }

  /** It was closed, or is not going to be. */
  public static void remove(MemorySegment.Scope arena) {
    CLOSING.remove(arena);
  }

  /** Whether it is not decided yet whether it closes. */
  static boolean isUndecided(MemorySegment.Scope arena) {
    return Boolean.FALSE.equals(CLOSING.get(arena));
  }

  /** Whether it will close. */
  static boolean isDecided(MemorySegment.Scope arena) {
    return Boolean.TRUE.equals(CLOSING.get(arena));
  }
}

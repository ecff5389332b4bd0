package org.jofi.counters.written;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Pattern;
import org.jofi.transport.Failure;
import org.jspecify.annotations.Nullable;

/**
 * What failed, each distinct thing once, with how often, when first and when last. Texts that
 * differ in numbers only are the same. Times are those of the last heartbeat. Any thread; a failure
 * that comes again and again is found by its identity.
 */
public final class ErrorLog {
  /** Keeps nothing. */
  public static final ErrorLog NONE = new ErrorLog(null);

  private static final Pattern NUMBERS = Pattern.compile("[0-9]+");
  private static final int MOST_CHARS = 480;

  private final @Nullable CounterFile file;
  // Guarded by this object's monitor.
  private final Map<String, Long> places = new HashMap<>();
  private @Nullable Failure last;
  private long lastAt = -1;
  private long end;
  private boolean full;

  ErrorLog(@Nullable CounterFile file) {
    this.file = file;
  }

  /**
   * Adds a failure.
   *
   * @param why what failed
   */
  @SuppressWarnings("ReferenceEquality") // One that fails many requests is one object.
  public void add(Failure why) {
    if (file == null) {
      return;
    }
    synchronized (this) {
      if (last != why) {
        last = why;
        lastAt = place(file, why.toString());
      }
      if (lastAt < 0) {
        file.transport().addAtomic(CounterType.ERRORS_UNRECORDED, 1);
        return;
      }
      MemorySegment log = file.errorLog();
      int seen = log.get(CounterLayout.INT, lastAt + CounterLayout.ERROR_COUNT_AT);
      log.set(CounterLayout.LONG, lastAt + CounterLayout.ERROR_LAST_AT, file.heartbeat());
      CounterLayout.INTS.setRelease(
          log, lastAt + CounterLayout.ERROR_COUNT_AT, Math.max(seen + 1, seen));
    }
  }

  /**
   * Where a text is in the log, which it is put into if it is new; negative if there is no room.
   */
  private long place(CounterFile into, String whole) {
    String text = whole.length() > MOST_CHARS ? whole.substring(0, MOST_CHARS) : whole;
    String key = NUMBERS.matcher(text).replaceAll("#");
    Long known = places.get(key);
    if (known != null) {
      return known;
    }
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    int length = CounterLayout.ERROR_TEXT_AT + bytes.length;
    long next = roundUp(end + length);
    if (full || next + CounterLayout.ERROR_ALIGNMENT > CounterLayout.ERRORS_BYTES) {
      full = true;
      return -1;
    }
    try {
      // Shared memory that is full would end the process at its first touch.
      into.reserve(CounterLayout.ERRORS_BEGIN + end, next - end);
    } catch (IOException none) {
      full = true;
      return -1;
    }
    long at = end;
    MemorySegment log = into.errorLog();
    log.set(CounterLayout.LONG, at + CounterLayout.ERROR_FIRST_AT, into.heartbeat());
    log.set(CounterLayout.LONG, at + CounterLayout.ERROR_LAST_AT, into.heartbeat());
    MemorySegment.copy(
        bytes,
        0,
        log,
        java.lang.foreign.ValueLayout.JAVA_BYTE,
        at + CounterLayout.ERROR_TEXT_AT,
        bytes.length);
    CounterLayout.INTS.setRelease(log, at + CounterLayout.ERROR_LENGTH_AT, length);
    end = next;
    places.put(key, at);
    return at;
  }

  private static long roundUp(long bytes) {
    return (bytes + CounterLayout.ERROR_ALIGNMENT - 1) & -CounterLayout.ERROR_ALIGNMENT;
  }
}

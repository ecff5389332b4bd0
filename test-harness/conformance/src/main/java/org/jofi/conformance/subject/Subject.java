package org.jofi.conformance.subject;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.jofi.fabric.FabricHints;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.FabricProvider;
import org.jofi.fabric.MemoryKind;

/**
 * A provider under examination: the one class that it takes to take part. Any thread.
 *
 * <p>All endpoints of a case are opened in one process, through one {@link #provider()}. To be run
 * in a process of its own, a class needs a public constructor without arguments.
 */
public interface Subject {

  /** What results call it, such as {@code shm}. */
  String name();

  /** The provider; the same one each time. */
  FabricProvider provider();

  /** What discovery is asked for: narrow enough that every answer is to be examined. */
  FabricHints hints();

  /**
   * Device memory to try claims of FI_HMEM on, zeroed, reachable from this process as well, alive
   * for as long as the subject; empty if there is none of that kind on this machine.
   */
  default Optional<MemorySegment> deviceMemory(MemoryKind kind, long bytes) {
    return Optional.empty();
  }

  /** How long a case waits for what must come. */
  default Duration patience() {
    return Duration.ofSeconds(8);
  }

  /** How long a case looks whether something comes that must not. */
  default Duration watch() {
    return Duration.ofMillis(60);
  }

  /** More bytes than can be under way at once; by default more than what sockets hold. */
  default long moreThanIsUnderWay() {
    return 64L << 20;
  }

  /** The answers to those hints, those that stay in this machine first. */
  default List<FabricInfo> discover(FabricHints hints) {
    return provider().discover(hints).stream()
        .sorted(
            Comparator.comparingInt((FabricInfo info) -> info.address().startsWith("127.") ? 0 : 1)
                .thenComparingInt(info -> info.domainName().equals("lo") ? 0 : 1))
        .toList();
  }
}

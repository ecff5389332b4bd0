package org.jofi.conformance.registration;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import org.jofi.conformance.bench.Bench;
import org.jofi.conformance.bench.Buffer;
import org.jofi.conformance.bench.Bytes;
import org.jofi.conformance.bench.Expect;
import org.jofi.conformance.bench.Peer;

/** Looks whether memory stays as it is. */
public final class Protection {
  private static final Duration FOR_AN_ANSWER = Duration.ofSeconds(1);

  private Protection() {}

  /** After the operation of that slot, complete or not, no byte of a cleared buffer is written. */
  public static void nothingLands(
      Bench bench, Peer initiator, int slot, Buffer target, String what) {
    nothingLands(bench, initiator, slot, target.memory(), what);
  }

  /** After the operation of that slot, complete or not, no byte of cleared memory is written. */
  public static void nothingLands(
      Bench bench, Peer initiator, int slot, MemorySegment target, String what) {
    bench.within(FOR_AN_ANSWER, () -> initiator.completions().of(slot).isPresent());
    bench.watch();
    long at = Bytes.touched(target);
    Expect.that(
        at < 0, "%s to change nothing".formatted(what), "byte %d was written".formatted(at));
  }
}

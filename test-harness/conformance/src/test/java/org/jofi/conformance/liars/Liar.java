package org.jofi.conformance.liars;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;
import org.jofi.conformance.subject.SimulatedSubject;
import org.jofi.conformance.subject.Subject;
import org.jofi.fabric.FabricHints;
import org.jofi.fabric.FabricProvider;
import org.jofi.fabric.MemoryKind;

/**
 * A provider that breaks one rule.
 *
 * @param what what it does
 * @param profile the simulated profile behind it
 * @param breaks the case whose rule it breaks
 * @param lie makes what it does
 */
record Liar(String what, String profile, String breaks, Supplier<Lie> lie) {

  Subject subject() {
    SimulatedSubject honest = new SimulatedSubject(profile, null);
    return subject(honest, honest.watch());
  }

  /** One that is watched for that long. */
  Subject subject(Duration watch) {
    return subject(new SimulatedSubject(profile, null), watch);
  }

  private Subject subject(SimulatedSubject honest, Duration watch) {
    LyingProvider provider = new LyingProvider(honest.provider(), lie.get());
    return new Subject() {
      @Override
      public String name() {
        return what;
      }

      @Override
      public FabricProvider provider() {
        return provider;
      }

      @Override
      public FabricHints hints() {
        return honest.hints();
      }

      @Override
      public Optional<MemorySegment> deviceMemory(MemoryKind kind, long bytes) {
        return honest.deviceMemory(kind, bytes);
      }

      @Override
      public Duration watch() {
        return watch;
      }

      @Override
      public long moreThanIsUnderWay() {
        return honest.moreThanIsUnderWay();
      }

      @Override
      public Duration patience() {
        return Duration.ofSeconds(4);
      }
    };
  }

  @Override
  public String toString() {
    return "%s (%s)".formatted(breaks, what);
  }
}

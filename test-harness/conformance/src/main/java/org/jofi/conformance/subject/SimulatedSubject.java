package org.jofi.conformance.subject;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Optional;
import org.jofi.fabric.FabricHints;
import org.jofi.fabric.FabricProvider;
import org.jofi.fabric.MemoryKind;
import org.jofi.simulated.SimulatedProvider;
import org.jofi.simulated.contract.Strictness;
import org.jofi.simulated.fault.FaultPlan;
import org.jofi.simulated.profile.Profile;
import org.jspecify.annotations.Nullable;

/** A profile of the simulated fabric, in real time, with two NICs and no faults. */
public final class SimulatedSubject implements Subject {
  private static final int NICS = 2;

  private final Profile profile;
  private final FabricHints hints;
  private final SimulatedProvider fabric =
      new SimulatedProvider(Strictness.ERRNO, FaultPlan.none(), NICS);

  /**
   * @param profile such as {@code efa}
   * @param domain the NIC; null for any
   * @throws IllegalArgumentException if there is no such profile
   */
  public SimulatedSubject(String profile, @Nullable String domain) {
    this.profile = Profile.named(profile);
    FabricHints any = FabricHints.any().withProvider(this.profile.name()).withHmem(false);
    this.hints = domain == null ? any : any.withDomain(domain);
  }

  @Override
  public String name() {
    return Subjects.SIMULATED + profile.name();
  }

  @Override
  public FabricProvider provider() {
    return fabric;
  }

  @Override
  public FabricHints hints() {
    return hints;
  }

  /** Its latencies are microseconds. */
  @Override
  public Duration watch() {
    return Duration.ofMillis(20);
  }

  /** It moves a few packets at a time. */
  @Override
  public long moreThanIsUnderWay() {
    return 2L << 20;
  }

  @Override
  public Optional<MemorySegment> deviceMemory(MemoryKind kind, long bytes) {
    return profile.negotiation().deviceMemory().contains(kind)
        ? Optional.of(fabric.host().allocateDevice(kind, bytes))
        : Optional.empty();
  }
}

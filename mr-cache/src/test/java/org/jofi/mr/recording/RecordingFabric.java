package org.jofi.mr.recording;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jofi.fabric.Addressing;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.FabricLimits;
import org.jofi.fabric.KeyOwner;
import org.jofi.fabric.MrMode;
import org.jofi.fabric.RegistrationScope;

/**
 * A fabric without wires: it keeps every object that is open, counts every call, fails on demand,
 * and records each breach of the contracts of fi_mr(3), fi_endpoint(3) and fi_domain(3).
 */
public final class RecordingFabric {

  /** A step of registration that can be made to fail. */
  public enum Step {
    REGISTER,
    BIND,
    ENABLE,
    CLOSE
  }

  /** How NICs were negotiated. */
  public record Profile(
      RegistrationScope scope, KeyOwner keys, Addressing addressing, int keyBytes, boolean local) {
    public static final Profile EFA =
        new Profile(RegistrationScope.DOMAIN, KeyOwner.PROVIDER, Addressing.VIRTUAL, 8, true);
    public static final Profile TCP =
        new Profile(RegistrationScope.DOMAIN, KeyOwner.APPLICATION, Addressing.OFFSET, 8, true);
    public static final Profile CXI =
        new Profile(RegistrationScope.ENDPOINT, KeyOwner.PROVIDER, Addressing.OFFSET, 8, true);
    public static final Profile CXI_CLIENT_KEY =
        new Profile(RegistrationScope.ENDPOINT, KeyOwner.APPLICATION, Addressing.OFFSET, 1, true);

    public Profile withKeyBytes(int width) {
      return new Profile(scope, keys, addressing, width, local);
    }

    public Profile withoutLocal() {
      return new Profile(scope, keys, addressing, keyBytes, false);
    }

    FabricInfo info(String nic) {
      Set<MrMode> modes = EnumSet.of(MrMode.ALLOCATED);
      if (scope == RegistrationScope.ENDPOINT) {
        modes.add(MrMode.ENDPOINT);
      }
      if (keys == KeyOwner.PROVIDER) {
        modes.add(MrMode.PROV_KEY);
      }
      if (addressing == Addressing.VIRTUAL) {
        modes.add(MrMode.VIRT_ADDR);
      }
      if (local) {
        modes.add(MrMode.LOCAL);
      }
      return FabricInfo.builder("recording", "net", nic)
          .mrModes(modes)
          .limits(new FabricLimits(keyBytes, 4, 64, 1 << 30, 256, 256, 1, 0))
          .build();
    }
  }

  private static final int NO_RAIL = -1;

  final Profile profile;
  public final List<RecordingDomain> domains = new ArrayList<>();
  final List<String> violations = new ArrayList<>();
  private final Map<Step, Integer> calls = new EnumMap<>(Step.class);
  private Step failingStep = Step.REGISTER;
  private int failingNic = NO_RAIL;
  private int failingErrno;
  private int failures;
  long lastDescriptor;
  long lastProviderKey = 1L << 40;
  public boolean cancelIsIgnored;

  /** Runs once, inside of the next registration, before it returns. */
  public Runnable duringNextRegistration = () -> {};

  /** Runs once, inside of the next closing of a region, before it has happened. */
  public Runnable duringNextClose = () -> {};

  /** Runs once, when a call is made to fail. */
  public Runnable onFailure = () -> {};

  public RecordingFabric(Profile profile, int nics) {
    this.profile = profile;
    for (int nic = 0; nic < nics; nic++) {
      domains.add(new RecordingDomain(this, nic, profile.info("nic" + nic)));
    }
  }

  /** Makes one call fail, the next of its step on that NIC. */
  public synchronized void failNext(Step step, int nic, int errno) {
    failNext(step, nic, errno, 1);
  }

  public synchronized void failNext(Step step, int nic, int errno, int times) {
    failingStep = step;
    failingNic = nic;
    failingErrno = errno;
    failures = times;
  }

  public synchronized void failNothing() {
    failures = 0;
  }

  public synchronized boolean isFailureArmed() {
    return failures > 0;
  }

  public synchronized int calls(Step step) {
    return calls.getOrDefault(step, 0);
  }

  synchronized void called(Step step, RecordingDomain domain, Object what) {
    calls.merge(step, 1, Integer::sum);
    if (failures > 0 && step == failingStep && domain.nic == failingNic) {
      int errno = failingErrno;
      failures--;
      Runnable then = onFailure;
      onFailure = () -> {};
      then.run();
      throw refused(step, errno, domain, what);
    }
  }

  FabricException refused(Step step, int errno, RecordingDomain domain, Object what) {
    String call =
        switch (step) {
          case REGISTER -> "fi_mr_regattr";
          case BIND -> "fi_mr_bind";
          case ENABLE -> "fi_mr_enable";
          case CLOSE -> "fi_close";
        };
    return new FabricException(call, errno, "", domain.info() + " " + what);
  }

  /** Records a breach of contract by the caller, and refuses. */
  synchronized FabricException violation(int errno, RecordingDomain domain, String text) {
    violations.add(text);
    return new FabricException("contract", errno, text, domain.info().toString());
  }

  synchronized void violated(String text) {
    violations.add(text);
  }

  public synchronized int openRegions() {
    return domains.stream().mapToInt(domain -> domain.regions.size()).sum();
  }

  public synchronized List<RecordedRegion> regions() {
    List<RecordedRegion> all = new ArrayList<>();
    domains.forEach(domain -> all.addAll(domain.regions));
    return all;
  }

  /** Closes the NICs; anything open in them is a leak. */
  public void close() {
    for (RecordingDomain domain : domains) {
      try {
        domain.close();
      } catch (FabricException e) {
        if (e.errno() != FabricErrno.EBUSY) {
          throw e;
        }
      }
    }
  }

  public void requireNoViolation() {
    if (!violations.isEmpty()) {
      throw new AssertionError("contract broken: " + violations);
    }
  }
}

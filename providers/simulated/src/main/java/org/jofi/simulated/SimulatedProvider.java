package org.jofi.simulated;

import java.lang.foreign.Arena;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jofi.fabric.Fabric;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.FabricHints;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.FabricProvider;
import org.jofi.simulated.contract.ContractViolationException;
import org.jofi.simulated.contract.Strictness;
import org.jofi.simulated.engine.Engine;
import org.jofi.simulated.fault.Fault;
import org.jofi.simulated.fault.FaultPlan;
import org.jofi.simulated.network.Network;
import org.jofi.simulated.network.Nic;
import org.jofi.simulated.profile.Profile;
import org.jofi.simulated.spi.Discovery;
import org.jofi.simulated.spi.SimulatedFabric;
import org.jofi.simulated.trace.Clock;
import org.jspecify.annotations.Nullable;

/**
 * Finds the NICs of one simulated host.
 *
 * <p>An instance that {@link java.util.ServiceLoader} makes is a network of its own, in real time,
 * with one host. Ranks that communicate are threads of this process and must share one instance. It
 * injects no faults, and reacts to misuse as the real providers do. It has 4 NICs of each profile,
 * or as many as the system property {@value #NICS} says, 1 to 8. Transfers progress whenever any
 * queue of the network is polled, and at least every millisecond.
 *
 * <p>{@link FabricHints#provider()} names a profile, {@code efa} or {@code simulated-efa}; without
 * it, the NICs of all profiles are listed. NICs of different profiles cannot communicate, so the
 * rails of a device must all be of one provider.
 */
public final class SimulatedProvider implements FabricProvider {
  /** The system property for the number of NICs of each profile. */
  public static final String NICS = "jofi.simulated.nics";

  private static final int USUAL_NICS = 4;
  static final int MOST_NICS = 8;

  private final boolean realTime;
  private final Strictness strictness;
  private final FaultPlan faults;
  private final int nics;
  private @Nullable SimulatedHost host;
  private @Nullable Engine engine;
  private @Nullable NicThread thread;

  /** Creates a network of its own, in real time. It takes no resources before it is used. */
  public SimulatedProvider() {
    this(Strictness.ERRNO, FaultPlan.none(), 0);
  }

  /**
   * Creates a network of its own, in real time, with more checks or faults than the usual one. It
   * takes no resources before it is used.
   *
   * @param strictness what happens to a program that breaks a contract
   * @param faults the faults to inject, without {@link Fault#DEAD_PEER}, since there is only one
   *     host. Which operation is affected depends on how threads run
   * @param nics NICs of each profile, 1 to 8; 0 for the usual number
   * @throws IllegalArgumentException if the plan or the number is not possible
   */
  public SimulatedProvider(Strictness strictness, FaultPlan faults, int nics) {
    if (nics < 0 || nics > MOST_NICS) {
      throw new IllegalArgumentException(
          "a host has 1 to %d NICs of a profile, not %d".formatted(MOST_NICS, nics));
    }
    if (faults.has(Fault.DEAD_PEER)) {
      throw new IllegalArgumentException(
          "in real time there is one host, the caller's own, so that %s cannot be planned; in %s"
              .formatted(Fault.DEAD_PEER.option(), faults));
    }
    this.realTime = true;
    this.strictness = strictness;
    this.faults = faults;
    this.nics = nics;
  }

  /** The provider of a host of a network. */
  SimulatedProvider(Engine engine, SimulatedHost host) {
    this.realTime = false;
    this.strictness = Strictness.ERRNO;
    this.faults = FaultPlan.none();
    this.nics = 0;
    this.engine = engine;
    this.host = host;
  }

  @Override
  public String name() {
    return "simulated";
  }

  @Override
  public String version() {
    return "simulated fabric, profiles %s, %s time"
        .formatted(
            String.join(", ", Profile.ALL.stream().map(Profile::name).toList()),
            realTime ? "real" : "virtual");
  }

  @Override
  public List<FabricInfo> discover(FabricHints hints) {
    return Discovery.discover(host().host(), hints);
  }

  @Override
  public Set<Module> nativeModules() {
    return Set.of(SimulatedProvider.class.getModule());
  }

  @Override
  public Fabric open(FabricInfo info) {
    SimulatedHost from = host();
    if (!(info.attachment() instanceof Nic nic) || nic.host() != from.host()) {
      throw new IllegalArgumentException(info + " is not of this provider's " + from);
    }
    Engine opened = Objects.requireNonNull(engine);
    if (nic.isDead()) {
      throw new FabricException("fi_fabric", FabricErrno.ENODEV, "the NIC died", nic.toString());
    }
    NicThread driver = thread;
    if (driver != null) {
      driver.retain();
    }
    opened.network().enter();
    try {
      return new SimulatedFabric(opened, info, nic, driver == null ? () -> {} : driver::release);
    } finally {
      opened.network().exit();
    }
  }

  /** The host whose NICs it finds. Tests can stall and kill them there. */
  public synchronized SimulatedHost host() {
    SimulatedHost known = host;
    if (known == null) {
      Network made = new Network(Clock.REAL, 1, faults, strictness, null, Arena.ofAuto());
      made.addHost(Profile.ALL, nicCount());
      Engine driver = new Engine(made);
      engine = driver;
      thread = new NicThread(driver);
      known = new SimulatedHost(driver, made.hosts().getFirst());
      host = known;
    }
    return known;
  }

  /** The first violations of contracts in its network, at most 100, oldest first. */
  public synchronized List<ContractViolationException> violations() {
    Engine known = engine;
    return known == null ? List.of() : known.network().contracts().violations();
  }

  private int nicCount() {
    if (nics > 0) {
      return nics;
    }
    int count = Integer.getInteger(NICS, USUAL_NICS);
    if (count < 1 || count > MOST_NICS) {
      throw new IllegalArgumentException(
          "%s must be 1 to %d, is %d".formatted(NICS, MOST_NICS, count));
    }
    return count;
  }
}

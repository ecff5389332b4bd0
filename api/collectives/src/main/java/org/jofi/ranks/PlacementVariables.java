package org.jofi.ranks;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The environment variables by which launchers place a process. */
final class PlacementVariables {
  private static final String LOOPBACK = "127.0.0.1";

  /** Jobs without a port of their own share out this many, below those that clients get. */
  private static final int FIRST_PORT = 20_000;

  private static final int PORTS = 12_000;

  private final Map<String, String> variables;

  PlacementVariables(Map<String, String> variables) {
    this.variables = variables;
  }

  /** As {@link Placement#of}. */
  Optional<Placement> placement() {
    List<Launcher> launchers = Launcher.of(variables);
    if (launchers.isEmpty()) {
      Launcher.withoutSize(variables).ifPresent(this::refuseWithoutSize);
      return Optional.empty();
    }
    Launcher innermost = launchers.getFirst();
    if (innermost == Launcher.JOFI || size(innermost) > 1) {
      return Optional.of(placement(innermost));
    }
    // The only rank of a launcher may start ranks of its own, but not one of several of those.
    for (Launcher outer : launchers) {
      if (size(outer) > 1) {
        refuseSeveralRuns(innermost, outer);
      }
    }
    return Optional.empty();
  }

  private void refuseWithoutSize(String variable) {
    throw new IllegalArgumentException(
        "%s makes this process rank %s, of how many is not known: set %s for each rank, or unset %s to start ranks here"
            .formatted(variable, variables.get(variable), Launcher.BY_HAND, variable));
  }

  private void refuseSeveralRuns(Launcher inner, Launcher outer) {
    throw new IllegalArgumentException(
        "%s made this process the only rank (%s), in one of %d that %s started (%s): each of these would be a run of its own. Unset the first variables to be one of %s's ranks, or the others to start ranks here"
            .formatted(
                inner.label(),
                inner.variables(),
                size(outer),
                outer.label(),
                outer.variables(),
                outer.label()));
  }

  private Placement placement(Launcher launcher) {
    int rank = number(launcher.rank());
    int size = size(launcher);
    return new Placement(
        rank,
        size,
        launcher.localRank(variables).map(this::number).orElse(rank),
        size == 1 ? LOOPBACK : host(launcher),
        port(launcher),
        launcher.label());
  }

  private String host(Launcher launcher) {
    Optional<String> named = value("MASTER_ADDR");
    if (named.isPresent()) {
      return named.get();
    }
    if (launcher.isOneMachine(variables)) {
      return LOOPBACK;
    }
    Optional<String> hosts = value("SLURM_STEP_NODELIST").or(() -> value("SLURM_JOB_NODELIST"));
    if (hosts.isPresent() && areSlurms(launcher)) {
      return HostList.first(hosts.get());
    }
    throw new IllegalArgumentException(
        "%s placed this rank, and does not say where rank 0 is: set MASTER_ADDR to its host"
                .formatted(launcher.label())
            + ", for all ranks (mpirun -x MASTER_ADDR=host …)");
  }

  /** Whether a launcher's ranks are those of the Slurm step around it, as where srun speaks PMI. */
  private boolean areSlurms(Launcher launcher) {
    return Launcher.of(variables).contains(Launcher.SLURM)
        && number(launcher.rank()) == number(Launcher.SLURM.rank())
        && size(launcher) == size(Launcher.SLURM);
  }

  private int port(Launcher launcher) {
    if (value("MASTER_PORT").isPresent()) {
      // torchrun's agent itself listens on its port.
      int next = "True".equals(variables.get("TORCHELASTIC_USE_AGENT_STORE")) ? 1 : 0;
      return number("MASTER_PORT") + next;
    }
    // Jobs that share a machine must use different ports.
    String job = launcher.job(variables);
    return job.isEmpty() ? Placement.USUAL_PORT : FIRST_PORT + Math.floorMod(job.hashCode(), PORTS);
  }

  private int size(Launcher launcher) {
    return number(launcher.size(variables));
  }

  private Optional<String> value(String name) {
    return Optional.ofNullable(variables.get(name)).map(String::strip).filter(it -> !it.isEmpty());
  }

  private int number(String name) {
    String value = variables.getOrDefault(name, "");
    try {
      return Integer.parseInt(value.strip());
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("%s is '%s', no number".formatted(name, value), e);
    }
  }
}

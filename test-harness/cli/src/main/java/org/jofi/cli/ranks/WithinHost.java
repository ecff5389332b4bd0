package org.jofi.cli.ranks;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jofi.collectives.schedule.Hosts;
import org.jofi.transport.NicNames;
import org.jofi.transport.TransportOptions;
import org.jspecify.annotations.Nullable;

/** What connects ranks of one host, if the user asked for something of its own. Any thread. */
public final class WithinHost {
  private final @Nullable FabricChoice fabric;

  private WithinHost(@Nullable FabricChoice fabric) {
    this.fabric = fabric;
  }

  /**
   * What the user asked for.
   *
   * @param provider as {@link FabricChoice#of} takes it; empty for nothing of its own
   * @param network what connects ranks of different hosts; null for what is best here
   * @throws IllegalArgumentException if there is no such profile, or one of both is simulated,
   *     which connects threads of a process, and the other is not
   */
  public static WithinHost of(String provider, @Nullable String network) {
    if (provider.isEmpty()) {
      return new WithinHost(null);
    }
    boolean simulated = provider.startsWith(FabricChoice.SIMULATED);
    if (simulated != (network != null && network.startsWith(FabricChoice.SIMULATED))) {
      throw new IllegalArgumentException(
          "--within-host %s and --provider %s do not go together: a simulated fabric connects threads, others processes; name two of a kind"
              .formatted(provider, network == null ? "of this machine's choice" : network));
    }
    return new WithinHost(FabricChoice.of(provider));
  }

  /** Whether there is something of its own. */
  public boolean isAsked() {
    return fabric != null;
  }

  /**
   * Opens its first device, whatever names of NICs the options have, which are the network's.
   *
   * @param options of a transport; this method changes them
   */
  public RankDevice open(TransportOptions.Builder options) {
    if (fabric == null) {
      throw new IllegalStateException("all are connected over the network");
    }
    return RankDevice.open(fabric, options.nics(NicNames.ANY), "", 0);
  }

  /** Where ranks may be, of which it is not known yet: on two hosts, if that makes a difference. */
  public Hosts possible(int ranks) {
    if (!isAsked()) {
      return Hosts.unknown(ranks);
    }
    List<String> names = new ArrayList<>(Collections.nCopies(ranks - 1, "one"));
    names.add("other");
    return Hosts.of(names);
  }
}

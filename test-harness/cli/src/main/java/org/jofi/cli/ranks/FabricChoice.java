package org.jofi.cli.ranks;

import java.util.Locale;
import org.jofi.fabric.FabricProvider;
import org.jofi.fabric.FabricUnavailableException;
import org.jofi.simulated.SimulatedProvider;
import org.jofi.simulated.profile.Profile;
import org.jofi.transport.Transport;
import org.jofi.transport.TransportOptions;
import org.jspecify.annotations.Nullable;

/** The fabric that ranks use: libfabric, or one that is simulated in this process. */
public final class FabricChoice {
  /** The prefix of a profile's name. */
  public static final String SIMULATED = "sim:";

  private static final Profile USUAL_PROFILE = Profile.EFA;

  private final String provider;
  private final @Nullable SimulatedProvider network;
  private final String missing;
  private final String notice;

  private FabricChoice(
      String provider, @Nullable SimulatedProvider network, String missing, String notice) {
    this.provider = provider;
    this.network = network;
    this.missing = missing;
    this.notice = notice;
  }

  /**
   * Chooses a fabric.
   *
   * @param provider libfabric's name of a provider; or {@code sim:} and a profile's name; or null
   *     for libfabric, and for the simulated fabric on a machine without libfabric
   * @throws IllegalArgumentException if there is no such profile
   * @throws FabricUnavailableException if libfabric is not on this machine, and the user named one
   *     of its providers, the file to load, or ports for it
   */
  public static FabricChoice of(@Nullable String provider) {
    if (provider != null && provider.startsWith(SIMULATED)) {
      return simulated(Profile.named(provider.substring(SIMULATED.length())), "");
    }
    try {
      String version = FabricProvider.named("libfabric").version();
      return new FabricChoice(provider == null ? "" : provider, null, "", version);
    } catch (FabricUnavailableException e) {
      if (provider != null || isSet("jofi.libfabric") || isSet("jofi.ports")) {
        throw e;
      }
      return simulated(USUAL_PROFILE, String.valueOf(e.getMessage()));
    }
  }

  /** Whether the user asked something of libfabric; if it does not load, that is an error then. */
  private static boolean isSet(String property) {
    String variable = System.getenv(property.toUpperCase(Locale.ROOT).replace('.', '_'));
    return !System.getProperty(property, "").isEmpty() || (variable != null && !variable.isEmpty());
  }

  private static FabricChoice simulated(Profile profile, String why) {
    String words =
        "simulated fabric, profile %s, ranks are threads of one process: this is no measurement of a NIC"
            .formatted(profile.name());
    return new FabricChoice(
        profile.providerName(),
        new SimulatedProvider(),
        why,
        why.isEmpty() ? words : why + System.lineSeparator() + "Going on with the " + words);
  }

  /** Whether ranks have to be threads of this process. */
  public boolean isSimulated() {
    return network != null;
  }

  /** Why the simulated fabric is used instead of libfabric; empty if it is not. */
  public String missing() {
    return missing;
  }

  /** The fabric's version, and other facts for the user. */
  public String notice() {
    return notice;
  }

  /** Opens a transport on it, which the caller closes. */
  public Transport open(TransportOptions.Builder options) {
    TransportOptions chosen = options.provider(provider).build();
    return network == null ? Transport.open(chosen) : Transport.open(network, chosen);
  }
}

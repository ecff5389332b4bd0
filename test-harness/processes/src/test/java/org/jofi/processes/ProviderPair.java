package org.jofi.processes;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jofi.efadouble.EfaDouble;
import org.jofi.nicdouble.NicDouble;
import org.jofi.processes.ProcessPair.Compilation;
import org.jofi.verbsdouble.VerbsDouble;

/** Two processes that meet over a provider: on devices without hardware, if it needs some. */
final class ProviderPair implements AutoCloseable {
  private static final int MOST_RAILS = 2;

  private final Optional<NicDouble> nics;
  private final ProcessPair pair;

  /**
   * @param arguments of both, the first of which is the provider
   */
  ProviderPair(Class<?> main, Compilation compilation, List<String> arguments) throws IOException {
    this(arguments.getFirst(), main, compilation, arguments);
  }

  private ProviderPair(
      String provider, Class<?> main, Compilation compilation, List<String> arguments)
      throws IOException {
    nics = devices(provider);
    Map<String, String> environment = nics.map(NicDouble::environment).orElse(Map.of());
    pair = new ProcessPair(main, compilation, environment, arguments);
  }

  private static Optional<NicDouble> devices(String provider) {
    if (Providers.isOfEfa(provider)) {
      return Optional.of(EfaDouble.devices(MOST_RAILS));
    }
    return Providers.isOfVerbs(provider)
        ? Optional.of(VerbsDouble.devices(MOST_RAILS))
        : Optional.empty();
  }

  /**
   * Two that do one thing after the other, as a JVM takes longer to start than many of them take.
   *
   * @param runs the arguments of each, the first of which is the same provider
   */
  static ProviderPair inTurn(Series.Part part, Compilation compilation, List<List<String>> runs)
      throws IOException {
    List<String> arguments = new ArrayList<>(List.of(part.name()));
    runs.forEach(run -> arguments.add(String.join(Series.BETWEEN, run)));
    return new ProviderPair(runs.getFirst().getFirst(), Series.class, compilation, arguments);
  }

  /** As {@link ProcessPair#await}; no rule of the device may have been broken. */
  long await(long boundSeconds) throws InterruptedException {
    long outlived = pair.await(boundSeconds);
    nics.ifPresent(NicDouble::demandNoViolations);
    return outlived;
  }

  String log() {
    return pair.log();
  }

  @Override
  public void close() {
    pair.close();
    nics.ifPresent(NicDouble::close);
  }
}

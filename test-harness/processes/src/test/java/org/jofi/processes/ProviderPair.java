package org.jofi.processes;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jofi.efadouble.EfaDouble;
import org.jofi.processes.ProcessPair.Compilation;

/** Two processes that meet over a provider: on devices without hardware, if it is one of EFA's. */
final class ProviderPair implements AutoCloseable {
  private static final int MOST_RAILS = 2;

  private final EfaDouble efa;
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
    boolean onDevices = Providers.isOfEfa(provider);
    efa = onDevices ? EfaDouble.devices(MOST_RAILS) : null;
    Map<String, String> environment = onDevices ? efa.environment() : Map.of();
    pair = new ProcessPair(main, compilation, environment, arguments);
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
    if (efa != null) {
      efa.demandNoViolations();
    }
    return outlived;
  }

  String log() {
    return pair.log();
  }

  @Override
  public void close() {
    pair.close();
    if (efa != null) {
      efa.close();
    }
  }
}

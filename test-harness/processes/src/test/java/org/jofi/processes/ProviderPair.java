package org.jofi.processes;

import java.io.IOException;
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
    boolean onDevices = Providers.isOfEfa(arguments.getFirst());
    efa = onDevices ? EfaDouble.devices(MOST_RAILS) : null;
    Map<String, String> environment = onDevices ? efa.environment() : Map.of();
    pair = new ProcessPair(main, compilation, environment, arguments);
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

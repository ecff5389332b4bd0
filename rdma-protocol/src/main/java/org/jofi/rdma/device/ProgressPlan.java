package org.jofi.rdma.device;

import java.util.List;
import java.util.Set;
import org.jofi.transport.ProgressThreads;
import org.jofi.transport.TransportOptions;

/**
 * Whether a device's endpoints have progress threads, and how many endpoints there are.
 *
 * @param threads whether each has a thread of its own, and a domain
 * @param endpoints how many there are at most
 * @param reasons sentences that explain it
 */
public record ProgressPlan(boolean threads, int endpoints, List<String> reasons) {
  /** Providers whose data the processor copies, through sockets or shared memory. */
  private static final Set<String> COPYING = Set.of("tcp", "net", "sockets", "udp", "shm");

  /** With this many CPUs, four more busy threads do not slow the program's own threads. */
  private static final int MANY_PROCESSORS = 16;

  /** Two channels, each a send and a receive communicator: what NCCL opens for a peer. */
  private static final int THREADED_ENDPOINTS = 4;

  /**
   * Decides.
   *
   * @param provider libfabric's name of the provider
   * @param processors how many this process may use
   */
  static ProgressPlan of(TransportOptions options, String provider, int processors) {
    boolean threads =
        switch (options.progressThreads()) {
          case ALWAYS -> true;
          case NEVER -> false;
          case AUTO -> COPYING.contains(core(provider)) && processors >= MANY_PROCESSORS;
        };
    int endpoints = options.endpointsPerDevice();
    if (endpoints == 0) {
      endpoints = threads ? THREADED_ENDPOINTS : 1;
    }
    return new ProgressPlan(threads, endpoints, reasons(options, threads, endpoints, processors));
  }

  private static String core(String provider) {
    int layer = provider.indexOf(';');
    return layer < 0 ? provider : provider.substring(0, layer);
  }

  private static List<String> reasons(
      TransportOptions options, boolean threads, int endpoints, int processors) {
    if (!threads) {
      return List.of();
    }
    String why =
        options.progressThreads() == ProgressThreads.ALWAYS
            ? "as asked"
            : "the processor moves its data, and there are %d".formatted(processors);
    return List.of(
        "up to %d endpoint%s with a progress thread and a domain each: %s"
            .formatted(endpoints, endpoints == 1 ? "" : "s", why));
  }
}

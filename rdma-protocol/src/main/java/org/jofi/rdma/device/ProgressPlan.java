package org.jofi.rdma.device;

import java.util.List;
import org.jofi.fabric.ProviderTraits;
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
  /** With this many CPUs, four more busy threads do not slow the program's own threads. */
  private static final int MANY_PROCESSORS = 16;

  /** Two channels, each a send and a receive communicator: what NCCL opens for a peer. */
  private static final int THREADED_ENDPOINTS = 4;

  /** Decides, for so many processors that this process may use. */
  static ProgressPlan of(TransportOptions options, ProviderTraits traits, int processors) {
    boolean threads =
        switch (options.progressThreads()) {
          case ALWAYS -> true;
          case NEVER -> false;
          case AUTO -> traits.copiesByProcessor() && processors >= MANY_PROCESSORS;
        };
    int endpoints = options.tuning().endpointsPerDevice();
    if (endpoints == 0) {
      endpoints = threads ? THREADED_ENDPOINTS : 1;
    }
    if (!threads) {
      return new ProgressPlan(false, endpoints, List.of());
    }
    String why =
        options.progressThreads() == ProgressThreads.ALWAYS
            ? "as asked"
            : "the processor moves its data, and there are %d".formatted(processors);
    String reason =
        "up to %d endpoint%s with a progress thread and a domain each: %s"
            .formatted(endpoints, endpoints == 1 ? "" : "s", why);
    return new ProgressPlan(true, endpoints, List.of(reason));
  }
}

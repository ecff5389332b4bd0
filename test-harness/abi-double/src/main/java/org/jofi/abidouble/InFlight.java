package org.jofi.abidouble;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Operations that were posted and have not completed, by their contexts. Guarded by the {@link
 * Ledger}'s monitor.
 */
final class InFlight {
  private record Operation(String call, EndpointFid endpoint, @Nullable RegionFid region) {}

  private final Ledger ledger;
  private final Map<Long, Operation> operations = new HashMap<>();

  InFlight(Ledger ledger) {
    this.ledger = ledger;
  }

  /** Before an operation is posted: it may complete on another thread before the post returns. */
  void begin(String call, long context, EndpointFid endpoint, @Nullable RegionFid region) {
    synchronized (ledger) {
      if (context == 0 || context % Long.BYTES != 0) {
        throw ledger.refusal(
            Rule.CONTEXT, call, "context 0x%x on %s".formatted(context, endpoint), endpoint);
      }
      Operation other = operations.get(context);
      if (other != null) {
        throw ledger.refusal(
            Rule.CONTEXT,
            call,
            "context 0x%x on %s is that of a %s in flight on %s"
                .formatted(context, endpoint, other.call, other.endpoint),
            endpoint);
      }
      operations.put(context, new Operation(call, endpoint, region));
      if (region != null) {
        region.use(1);
      }
    }
  }

  /** It completed, or was not posted after all. Contexts of nobody are the provider's affair. */
  void end(long context) {
    synchronized (ledger) {
      Operation operation = operations.remove(context);
      if (operation != null && operation.region != null) {
        operation.region.use(-1);
      }
    }
  }

  /** An endpoint closed: nothing of it completes any more. */
  void forget(EndpointFid endpoint) {
    synchronized (ledger) {
      operations.values().removeIf(operation -> operation.endpoint == endpoint);
    }
  }
}

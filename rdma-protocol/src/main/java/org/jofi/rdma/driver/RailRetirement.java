package org.jofi.rdma.driver;

import java.lang.System.Logger.Level;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.ProviderTraits;
import org.jofi.mr.EndpointRegistrations;
import org.jofi.rdma.nic.ArrivalSink;
import org.jofi.rdma.nic.FlushLanding;
import org.jofi.rdma.nic.RailPort;
import org.jofi.rdma.operation.PeerControl;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.jofi.transport.diagnostics.Log;

/**
 * Closes the endpoints of data rails, and opens others in their place. That is the fence after
 * which nothing lands any more that was posted to a rail, and it gives back what this side posted
 * to it and what does not come back by itself. Closing a registration would be neither: a provider
 * may check a key once, and write for as long as bytes come.
 *
 * <p>A rail is shared by all peers. What is out to those that answer is given time to come back, so
 * that nothing of theirs is in doubt. Used with the endpoint's lock held; it waits for nothing.
 *
 * <p>Where registrations belong to endpoints, those of the rail are closed before, and the rail
 * stays closed: peers were told its keys, and nobody could tell them others.
 *
 * @see <a href="https://ofiwg.github.io/libfabric/main/man/fi_endpoint.3.html">fi_endpoint(3)</a>
 */
final class RailRetirement {
  /** After so many looks, what is still out does not come back by itself. */
  private static final int LOOKS = 3;

  private static final Log LOG = new Log(Log.Name.TRANSPORT);

  private final Rails rails;
  private final ArrivalSink arrivals;
  private final EndpointRegistrations registrations;
  private final FlushLanding landing;
  private final Retiring[] retiring;

  /** The rails that are to close, a bit each. */
  private int under;

  private static final class Retiring {
    int out;
    int looks;
    boolean refused;
  }

  RailRetirement(
      Rails rails,
      ArrivalSink arrivals,
      EndpointRegistrations registrations,
      FlushLanding landing) {
    this.rails = rails;
    this.arrivals = arrivals;
    this.registrations = registrations;
    this.landing = landing;
    retiring = new Retiring[rails.data.size()];
  }

  /**
   * A rail is to close, unless it does already, or must not: it is the last one, and no other can
   * be opened in its place.
   */
  void begin(int rail, Failure why) {
    RailPort port = rails.data.get(rail);
    if ((under & 1 << rail) != 0
        || port.brokenBy() != null
        || (!registrations.outlivesEndpoints() && !hasOther(rail))) {
      return;
    }
    retiring[rail] = new Retiring();
    retiring[rail].out = port.operationsOut();
    under |= 1 << rail;
    port.retire(why);
    LOG.log(
        Level.INFO,
        "%s: its endpoint closes, and what it had goes over others. %s: %s"
            .formatted(port.label, why.where(), why.detail()));
  }

  /** As {@link PeerControl#cut}. */
  BooleanSupplier beginAll(Failure why) {
    ProviderTraits traits = rails.data.getFirst().rail().domain().info().traits();
    if (retiring.length == 1 || traits.completionMeansDelivered()) {
      return () -> true;
    }
    for (int rail = 0; rail < retiring.length; rail++) {
      begin(rail, why);
    }
    int all = under;
    return () -> (under & all) == 0;
  }

  private boolean hasOther(int rail) {
    return rails.data.stream()
        .anyMatch(port -> port.number != rail && !port.isRetired() && port.brokenBy() == null);
  }

  /** Closes rails on which nothing comes back any more. */
  void look() {
    for (int left = under; left != 0; left &= left - 1) {
      int rail = Integer.numberOfTrailingZeros(left);
      Retiring of = retiring[rail];
      int out = rails.data.get(rail).operationsOut();
      if (out == 0 || out == of.out || ++of.looks == LOOKS) {
        close(rail, of);
      }
      of.out = out;
    }
  }

  private void close(int rail, Retiring of) {
    RailPort port = rails.data.get(rail);
    Failure why = Objects.requireNonNull(port.retiredFor());
    // What has arrived counts, whatever its endpoint comes to.
    rails.drain(rail);
    try {
      if (!registrations.closeRail(rail)) {
        of.looks = LOOKS - 1;
        return;
      }
      port.closeEndpoint();
    } catch (FabricException e) {
      // Tried again at the next look. Until then nobody is told that nothing can land.
      of.looks = LOOKS - 1;
      if (!of.refused) {
        of.refused = true;
        LOG.log(Level.WARNING, "%s cannot be closed yet: %s".formatted(port.label, e.getMessage()));
      }
      return;
    }
    rails.drain(rail);
    under &= ~(1 << rail);
    port.drop(why);
    arrivals.railClosed();
    if (!registrations.outlivesEndpoints()) {
      port.end(why);
      return;
    }
    try {
      port.reopen();
      landing.reopened(port);
    } catch (FabricException e) {
      Failure refused =
          new Failure(
              FailureCause.FABRIC,
              e.errno(),
              port.label,
              "its endpoint closed, and no other could be opened: %s".formatted(e.getMessage()));
      port.end(refused);
      LOG.log(Level.WARNING, "%s: %s".formatted(refused.where(), refused.detail()));
    }
  }
}

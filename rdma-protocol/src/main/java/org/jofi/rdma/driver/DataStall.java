package org.jofi.rdma.driver;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jofi.fabric.AddressText;
import org.jofi.fabric.LinkTraffic;
import org.jofi.rdma.operation.Transfer;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.jspecify.annotations.Nullable;

/**
 * Finds that nothing of the data for a peer moves, though the peer may be heard. Where packets that
 * are longer than the path takes are dropped, a connection with data stands still for good, while
 * short messages, in another one, pass. Used with the endpoint's lock held.
 *
 * <p>Only where it is known how many bytes were moved: then something so large that it takes longer
 * than the bound is not taken for it.
 */
final class DataStall {
  private static final Logger LOG = System.getLogger("org.jofi.rdma.rails");

  private final String peer;
  private final Supplier<Optional<LinkTraffic>> traffic;
  private final Supplier<String> ways;
  private final Flow writes = new Flow("writes", LinkTraffic::confirmedBytes);
  private final Flow reads = new Flow("reads", LinkTraffic::receivedBytes);

  /**
   * @param peer what errors call it
   * @param traffic what was moved over all data rails to it until now; empty if unknown
   * @param ways how errors call these rails
   */
  DataStall(String peer, Supplier<Optional<LinkTraffic>> traffic, Supplier<String> ways) {
    this.peer = peer;
    this.traffic = traffic;
    this.ways = ways;
  }

  /** Of the rails to a peer. */
  static DataStall over(PeerRails data, String peer) {
    return new DataStall(peer, () -> traffic(data), () -> ways(data));
  }

  private static Optional<LinkTraffic> traffic(PeerRails data) {
    Optional<LinkTraffic> sum = Optional.of(LinkTraffic.NONE);
    for (int rail = 0; rail < data.count(); rail++) {
      int one = rail;
      sum = sum.flatMap(before -> data.rail(one).traffic().map(before::plus));
    }
    return sum;
  }

  private static String ways(PeerRails data) {
    return IntStream.range(0, data.count())
        .mapToObj(
            rail ->
                "%s from %s to %s"
                    .formatted(
                        data.rail(rail).port().nic(),
                        AddressText.of(data.rail(rail).port().address().bytes()),
                        AddressText.of(data.rail(rail).address().bytes())))
        .collect(Collectors.joining(", "));
  }

  /** A rail took an operation of that kind. */
  void took(Transfer.Kind kind) {
    Flow flow = flow(kind);
    if (flow != null) {
      flow.out++;
    }
  }

  /** One is done. */
  void done(Transfer.Kind kind) {
    Flow flow = flow(kind);
    if (flow != null) {
      flow.out--;
      flow.moves = true;
    }
  }

  /** One came to nothing: it may be posted again, over another connection or rail. */
  void failed(Transfer.Kind kind) {
    Flow flow = flow(kind);
    if (flow != null) {
      flow.out--;
      flow.owed = true;
    }
  }

  /** What it is part of; null of a read of this side's own memory. */
  private @Nullable Flow flow(Transfer.Kind kind) {
    return switch (kind) {
      case WRITE -> writes;
      case READ -> reads;
      case READ_OWN -> null;
    };
  }

  /**
   * Looks what is out.
   *
   * @param now time in which this side looked, in nanoseconds
   * @param boundNs how long nothing may move
   * @return why the peer is to be given up; null if something moves, nothing is out, or it is not
   *     known
   */
  @Nullable Failure look(long now, long boundNs) {
    writes.look(now, boundNs);
    reads.look(now, boundNs);
    return writes.why == null ? reads.why : writes.why;
  }

  /** Of requests that fail for it, the first that a caller looks at may be one that says less. */
  private Failure found(Flow flow, long boundNs) {
    Failure why = failure(flow, boundNs);
    LOG.log(Level.WARNING, why);
    return why;
  }

  private Failure failure(Flow flow, long boundNs) {
    return new Failure(
        FailureCause.PEER_LOST,
        0,
        peer,
        String.format(
            Locale.ROOT,
            "none of %d %s moved for %d ms, over %s; if short messages pass, longer packets are"
                + " dropped on the way: compare the MTU of both ends with the path's (ping -M do)",
            flow.out,
            flow.name,
            boundNs / 1_000_000,
            ways.get()));
  }

  /** What goes to the peer, or comes from it. */
  private final class Flow {
    private static final long UNASKED = Long.MIN_VALUE;
    private static final long UNKNOWN = -1;

    /** In half a bound. A connection that only is made, again and again, moves less. */
    private static final long LEAST_BYTES = 64 << 10;

    private final String name;
    private final ToLongFunction<LinkTraffic> bytes;
    private int out;
    private boolean moves;

    /** Whether one that came to nothing may be posted again. */
    private boolean owed;

    private @Nullable Failure why;
    private long since;

    /** What was moved when that was asked last. */
    private long moved = UNASKED;

    Flow(String name, ToLongFunction<LinkTraffic> bytes) {
      this.name = name;
      this.bytes = bytes;
    }

    /** Asks what was moved in the second half of the bound only: that takes calls of the kernel. */
    void look(long now, long boundNs) {
      boolean late = now - since >= boundNs;
      if (moves || (out == 0 && (late || !owed))) {
        moves = false;
        owed = false;
        why = null;
        since = now;
        moved = UNASKED;
      } else if (why == null && now - since >= boundNs / 2 && moved == UNASKED) {
        moved = moved();
      } else if (why == null && late) {
        long before = moved;
        moved = moved();
        if (before != UNKNOWN && (moved < before ? moved : moved - before) < LEAST_BYTES) {
          why = found(this, boundNs);
        }
        since = now - boundNs / 2;
      }
    }

    private long moved() {
      return traffic.get().map(bytes::applyAsLong).orElse(UNKNOWN);
    }
  }
}

package org.jofi.rdma.driver;

import java.lang.System.Logger.Level;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jofi.fabric.AddressText;
import org.jofi.fabric.LinkTraffic;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.jofi.transport.diagnostics.Log;
import org.jspecify.annotations.Nullable;

/**
 * Finds that nothing of the data that goes to a peer moves, or of what comes from it, though the
 * peer may be heard. Where packets that are longer than the path takes are dropped, a connection
 * with data stands still for good, while short messages, in another one, pass. Used with the
 * endpoint's lock held.
 *
 * <p>Only where it is known how many bytes were moved: then something so large that it takes longer
 * than the bound is not taken for it.
 */
final class DataStall {
  private static final Log LOG = new Log(Log.Name.TRANSPORT);
  private static final long UNASKED = Long.MIN_VALUE;
  private static final long UNKNOWN = -1;

  /** The cause that is found last, since all that is tried by hand is short. */
  static final String IF_SHORT_ONES_PASS =
      "if short messages pass, longer packets are dropped on the way: compare the MTU of both ends"
          + " with the path's (ping -M do)";

  /** In half a bound. A connection that only is made, again and again, moves less. */
  private static final long LEAST_BYTES = 64 << 10;

  private final boolean reads;
  private final String peer;
  private final Supplier<Optional<LinkTraffic>> traffic;
  private final Supplier<String> ways;
  private int out;
  private boolean moves;

  /** Whether one that came to nothing may be posted again. */
  private boolean owed;

  /** Whether something was out when that was looked at last. Until then no time passes. */
  private boolean watching;

  private @Nullable Failure why;
  private long since;

  /** What was moved when that was asked last. */
  private long moved = UNASKED;

  DataStall(
      boolean reads, String peer, Supplier<Optional<LinkTraffic>> traffic, Supplier<String> ways) {
    this.reads = reads;
    this.peer = peer;
    this.traffic = traffic;
    this.ways = ways;
  }

  static DataStall over(PeerRails data, boolean reads, String peer) {
    return new DataStall(reads, peer, () -> traffic(data), () -> ways(data));
  }

  private static Optional<LinkTraffic> traffic(PeerRails data) {
    return IntStream.range(0, data.count())
        .mapToObj(rail -> data.rail(rail).traffic())
        .reduce(
            Optional.of(LinkTraffic.NONE), (sum, one) -> sum.flatMap(all -> one.map(all::plus)));
  }

  private static String ways(PeerRails data) {
    return IntStream.range(0, data.count())
        .mapToObj(
            rail ->
                "%s from %s to %s"
                    .formatted(
                        data.rail(rail).port.nic(),
                        AddressText.of(data.rail(rail).port.address().bytes()),
                        AddressText.of(data.rail(rail).address.bytes())))
        .collect(Collectors.joining(", "));
  }

  void took() {
    out++;
  }

  /** One that came to nothing may be posted again, over another connection or rail. */
  void back(boolean done) {
    out--;
    moves |= done;
    owed |= !done;
  }

  /**
   * Looks what is out. Asks what was moved in the second half of the bound only: that takes calls
   * of the kernel.
   *
   * @return why the peer is to be given up; null if something moves, nothing is out, or it is not
   *     known
   */
  @Nullable Failure look(long now, long boundNs) {
    boolean late = now - since >= boundNs;
    if (moves || !watching || (out == 0 && (late || !owed))) {
      watching = out > 0;
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
        why = found(boundNs);
      }
      since = now - boundNs / 2;
    }
    return why;
  }

  private long moved() {
    return traffic
        .get()
        .map(sum -> reads ? sum.receivedBytes() : sum.confirmedBytes())
        .orElse(UNKNOWN);
  }

  /** Of requests that fail for it, the first that a caller looks at may be one that says less. */
  private Failure found(long boundNs) {
    String detail =
        String.format(
            Locale.ROOT,
            "none of %d %s moved for %d ms, over %s; %s",
            out,
            reads ? "reads" : "writes",
            boundNs / 1_000_000,
            ways.get(),
            IF_SHORT_ONES_PASS);
    Failure failure = new Failure(FailureCause.PEER_LOST, 0, peer, detail);
    LOG.log(Level.WARNING, failure.toString());
    return failure;
  }
}

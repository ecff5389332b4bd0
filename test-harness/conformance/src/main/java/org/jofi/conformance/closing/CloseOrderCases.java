package org.jofi.conformance.closing;

import java.util.List;
import org.jofi.conformance.bench.Bench;
import org.jofi.conformance.bench.Buffer;
import org.jofi.conformance.bench.Completions;
import org.jofi.conformance.bench.Expect;
import org.jofi.conformance.bench.Pair;
import org.jofi.conformance.bench.Peer;
import org.jofi.conformance.rule.Area;
import org.jofi.conformance.rule.Case;
import org.jofi.fabric.Access;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.RegistrationScope;

/** Children close before their parents. */
public final class CloseOrderCases {
  private static final int ROUNDS = 10;
  private static final int BYTES = 256;

  private CloseOrderCases() {}

  /** The cases. */
  public static List<Case> all() {
    return List.of(
        closing(
            "queue-in-use",
            "fi_cq(3), fi_close: a queue that endpoints are bound to does not close: -FI_EBUSY",
            bench -> busy(bench.open("side"), "its queue", side -> side.queue().close())),
        closing(
            "address-vector-in-use",
            "fi_av(3), fi_close: an address vector that endpoints are bound to does not close:"
                + " -FI_EBUSY",
            bench -> busy(bench.open("side"), "its address vector", side -> side.peers().close())),
        closing(
            "domain-in-use",
            "fi_domain(3), fi_close: a domain with open objects does not close: -FI_EBUSY",
            bench -> busy(bench.open("side"), "its domain", side -> side.domain().close())),
        closing(
            "fabric-in-use",
            "fi_fabric(3), fi_close: a fabric with open domains does not close: -FI_EBUSY",
            bench -> busy(bench.open("side"), "its fabric", side -> side.fabric().close())),
        closing("twice", "fabric(7), fi_close: closing again does nothing", CloseOrderCases::twice),
        closing(
            "use-after-close",
            "fabric(7), fi_close: what was closed is not usable any more",
            CloseOrderCases::useAfterClose),
        closing(
            "receives-posted",
            "fi_endpoint(3), fi_close: an endpoint closes with receives posted, and then all that"
                + " it used",
            CloseOrderCases::receivesPosted),
        closing(
            "open-again",
            "fabric(7), fi_close: what was closed can be opened again",
            CloseOrderCases::openAgain));
  }

  private static Case closing(String name, String rule, Case.Body body) {
    return Case.of(Area.CLOSING, name, rule, body);
  }

  private static void busy(Peer side, String what, java.util.function.Consumer<Peer> close) {
    Expect.refusedWith(
        "closing %s while its endpoint is open".formatted(what),
        () -> close.accept(side),
        FabricErrno.EBUSY);
  }

  private static void closeAll(Peer side) {
    side.endpoint().close();
    side.queue().close();
    side.peers().close();
    side.domain().close();
    side.fabric().close();
  }

  private static void twice(Bench bench) {
    Peer side = bench.open("side");
    bench.leave(side);
    closeAll(side);
    closeAll(side);
  }

  private static void useAfterClose(Bench bench) {
    Peer side = bench.open("side");
    bench.leave(side);
    long memory = bench.allocate(BYTES).address();
    byte[] address = side.endpoint().address();
    closeAll(side);
    gone("fi_send on a closed endpoint", () -> side.endpoint().send(memory, 8, 0, 0, 0));
    gone("fi_recv on a closed endpoint", () -> side.endpoint().recv(memory, 8, 0, -1, 0));
    gone("fi_cq_read of a closed queue", () -> side.queue().poll(new Completions(), 1));
    gone("fi_av_insert into a closed address vector", () -> side.peers().insert(address));
    gone("fi_av_open in a closed domain", () -> side.domain().openAddressVector(1).close());
    gone("fi_domain on a closed fabric", () -> side.fabric().openDomain().close());
  }

  private static void gone(String what, Runnable call) {
    Expect.refused(what, call, IllegalStateException.class, FabricException.class);
  }

  private static void receivesPosted(Bench bench) {
    Pair pair = bench.pair();
    Peer right = pair.right();
    Buffer into = right.buffer(BYTES * 8, Access.RECV);
    for (int i = 0; i < 8; i++) {
      right.recv(into, (long) i * BYTES, BYTES);
    }
    if (bench.info().registrationScope() == RegistrationScope.DOMAIN) {
      right.endpoint().close();
      into.region().close();
    } else {
      into.region().close();
    }
  }

  private static void openAgain(Bench bench) {
    for (int i = 0; i < ROUNDS; i++) {
      Peer side = bench.open("side " + i);
      bench.leave(side);
      closeAll(side);
    }
  }
}

package org.jofi.conformance.messages;

import java.util.List;
import org.jofi.conformance.bench.Bench;
import org.jofi.conformance.bench.Buffer;
import org.jofi.conformance.bench.Bytes;
import org.jofi.conformance.bench.Expect;
import org.jofi.conformance.bench.NotClaimedException;
import org.jofi.conformance.bench.Pair;
import org.jofi.conformance.bench.Peer;
import org.jofi.conformance.rule.Area;
import org.jofi.conformance.rule.Case;
import org.jofi.conformance.rule.Need;
import org.jofi.fabric.Access;
import org.jofi.fabric.Capability;
import org.jofi.fabric.FabricErrno;

/** Which receive takes a message. */
public final class MatchingCases {
  private static final int BYTES = 256;

  private MatchingCases() {}

  /** The cases. */
  public static List<Case> all() {
    return List.of(
        Case.of(
            Area.MESSAGES,
            "unexpected",
            "fi_domain(3), FI_RM_ENABLED; fi_msg(3): a message that comes before its receive is"
                + " posted is kept for it",
            MatchingCases::unexpected),
        Case.of(
                Area.MESSAGES,
                "directed",
                "fi_getinfo(3), FI_DIRECTED_RECV: a receive that names a peer takes messages of"
                    + " that peer only",
                MatchingCases::directed)
            .needing(Need.capability(Capability.DIRECTED_RECV)),
        Case.of(
            Area.MESSAGES,
            "not-directed",
            "fi_msg(3), fi_recv: without FI_DIRECTED_RECV a receive that names a peer takes from"
                + " anybody or is refused, and is never lost",
            MatchingCases::notDirected));
  }

  private static void unexpected(Bench bench) {
    Pair pair = bench.pair();
    Buffer from = pair.left().buffer(BYTES, Access.SEND);
    Buffer into = pair.right().buffer(BYTES, Access.RECV);
    from.fill(BYTES, 13);
    int sent = pair.left().send(from, BYTES, pair.toRight());
    bench.watch();
    int received = pair.right().recv(into, BYTES);
    pair.right().success(received, "a receive posted after its message came");
    pair.left().success(sent, "the send");
    bench.awaitBytes(pair.right(), "the message", into.memory(), 13);
  }

  private static void directed(Bench bench) {
    Pair wanted = bench.pair();
    Peer right = wanted.right();
    Pair other = bench.connect(bench.open("another sender"), right);
    Buffer fromOther = other.left().buffer(BYTES, Access.SEND);
    Buffer fromWanted = wanted.left().buffer(BYTES, Access.SEND);
    Buffer named = right.buffer(BYTES, Access.RECV);
    fromOther.fill(BYTES, 14);
    fromWanted.fill(BYTES, 15);
    int slot = right.slot();
    right.post(
        "fi_recv from peer %d".formatted(wanted.toLeft()),
        () ->
            right
                .endpoint()
                .recv(named.address(), BYTES, named.descriptor(), wanted.toLeft(), slot));
    int sentByOther = other.left().send(fromOther, BYTES, other.toRight());
    bench.watch();
    Expect.that(
        right.completions().of(slot).isEmpty(),
        "a receive from peer %d to leave another peer's message".formatted(wanted.toLeft()),
        "it completed: " + right.completions());
    int sent = wanted.left().send(fromWanted, BYTES, wanted.toRight());
    right.success(slot, "a receive from the peer that it names");
    wanted.left().success(sent, "the send");
    Expect.that(
        Bytes.match(named.memory(), 15), "the named peer's message", "another message's bytes");
    Buffer anybody = right.buffer(BYTES, Access.RECV);
    int rest = right.recv(anybody, BYTES);
    right.success(rest, "a receive from anybody, for the message that was left");
    other.left().success(sentByOther, "the other peer's send");
  }

  private static void notDirected(Bench bench) {
    if (bench.info().has(Capability.DIRECTED_RECV)) {
      throw new NotClaimedException("has FI_DIRECTED_RECV without being asked for it");
    }
    Pair pair = bench.pair();
    Peer right = pair.right();
    Buffer from = pair.left().buffer(BYTES, Access.SEND);
    Buffer into = right.buffer(BYTES, Access.RECV);
    int slot = right.slot();
    int code = right.endpoint().recv(into.address(), BYTES, into.descriptor(), pair.toLeft(), slot);
    if (code == 0) {
      int sent = pair.left().send(from, BYTES, pair.toRight());
      pair.left().success(sent, "the send");
      right.success(slot, "a receive that was taken, though it names a peer");
    } else {
      Expect.that(
          code == -FabricErrno.EOPNOTSUPP,
          "a receive that names a peer to be refused with -FI_EOPNOTSUPP",
          "it returned " + Expect.code(code));
    }
  }
}

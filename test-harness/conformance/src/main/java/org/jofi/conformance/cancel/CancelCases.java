package org.jofi.conformance.cancel;

import java.util.List;
import org.jofi.conformance.bench.Bench;
import org.jofi.conformance.bench.Buffer;
import org.jofi.conformance.bench.Bytes;
import org.jofi.conformance.bench.Completion;
import org.jofi.conformance.bench.Expect;
import org.jofi.conformance.bench.Pair;
import org.jofi.conformance.bench.Peer;
import org.jofi.conformance.rule.Area;
import org.jofi.conformance.rule.Case;
import org.jofi.fabric.Access;
import org.jofi.fabric.FabricErrno;

/** Taking posted receives back. */
public final class CancelCases {
  private static final int BYTES = 256;

  private CancelCases() {}

  /** The cases. */
  public static List<Case> all() {
    return List.of(
        Case.of(
            Area.CANCEL,
            "ecanceled",
            "fi_endpoint(3), fi_cancel: an operation that was pending completes with FI_ECANCELED",
            CancelCases::ecanceled),
        Case.of(
            Area.CANCEL,
            "completes-once",
            "fi_endpoint(3), fi_cancel: a cancelled operation completes once, as cancelled or as"
                + " usual",
            CancelCases::completesOnce),
        Case.of(
            Area.CANCEL,
            "others-stay",
            "fi_endpoint(3), fi_cancel: only the operation of that context is cancelled",
            CancelCases::othersStay),
        Case.of(
            Area.CANCEL,
            "too-late",
            "fi_endpoint(3), fi_cancel: no entry is written for an operation that completed before",
            CancelCases::tooLate));
  }

  private static int cancel(Peer side, int slot) {
    int code = Bench.claimed("fi_cancel", side.endpoint().cancel(slot));
    Expect.that(
        code <= 0 && code != -FabricErrno.EAGAIN,
        "fi_cancel to return 0 or an error",
        "it returned " + Expect.code(code));
    return code;
  }

  private static void ecanceled(Bench bench) {
    Pair pair = bench.pair();
    Buffer into = pair.right().buffer(BYTES, Access.RECV);
    int slot = pair.right().recv(into, BYTES);
    Expect.same("what fi_cancel of a posted receive returns", 0, cancel(pair.right(), slot));
    Completion completion = pair.right().completion(slot, "the cancelled receive");
    Expect.that(
        completion.failed() && completion.errno() == FabricErrno.ECANCELED,
        "the receive to fail with FI_ECANCELED",
        completion.toString());
  }

  private static void completesOnce(Bench bench) {
    Pair pair = bench.pair();
    Buffer into = pair.right().buffer(BYTES, Access.RECV);
    int slot = pair.right().recv(into, BYTES);
    cancel(pair.right(), slot);
    pair.right().completion(slot, "the cancelled receive");
    bench.watch();
    Expect.same(
        "completions of the cancelled receive", 1, pair.right().completions().countOf(slot));
  }

  private static void othersStay(Bench bench) {
    Pair pair = bench.pair();
    Buffer first = pair.right().buffer(BYTES, Access.RECV);
    Buffer second = pair.right().buffer(BYTES, Access.RECV);
    Buffer from = pair.left().buffer(BYTES, Access.SEND);
    from.fill(BYTES, 90);
    int kept = pair.right().recv(first, BYTES);
    int cancelled = pair.right().recv(second, BYTES);
    cancel(pair.right(), cancelled);
    pair.right().completion(cancelled, "the cancelled receive");
    bench.watch();
    Expect.that(
        pair.right().completions().of(kept).isEmpty(),
        "the other receive to stay posted",
        "it completed: " + pair.right().completions());
    int sent = pair.left().send(from, BYTES, pair.toRight());
    pair.right().success(kept, "the receive that was not cancelled");
    pair.left().success(sent, "the send");
    Expect.that(
        Bytes.match(first.memory(), 90),
        "the message in the buffer of the receive that was not cancelled",
        "it is not there");
  }

  private static void tooLate(Bench bench) {
    Pair pair = bench.pair();
    Buffer into = pair.right().buffer(BYTES, Access.RECV);
    Buffer from = pair.left().buffer(BYTES, Access.SEND);
    int received = pair.right().recv(into, BYTES);
    pair.left().send(from, BYTES, pair.toRight());
    pair.right().success(received, "the receive");
    cancel(pair.right(), received);
    bench.watch();
    Expect.same(
        "completions of a receive that was complete before it was cancelled",
        1,
        pair.right().completions().countOf(received));
  }
}

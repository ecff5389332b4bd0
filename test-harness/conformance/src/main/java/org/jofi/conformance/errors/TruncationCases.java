package org.jofi.conformance.errors;

import java.util.List;
import java.util.Optional;
import org.jofi.conformance.bench.Bench;
import org.jofi.conformance.bench.Buffer;
import org.jofi.conformance.bench.Bytes;
import org.jofi.conformance.bench.Completion;
import org.jofi.conformance.bench.Expect;
import org.jofi.conformance.bench.NotClaimedException;
import org.jofi.conformance.bench.Pair;
import org.jofi.conformance.rule.Area;
import org.jofi.conformance.rule.Case;
import org.jofi.fabric.Access;
import org.jofi.fabric.FabricErrno;

/** A message that is longer than its receive. */
public final class TruncationCases {
  private static final int SHORT = 128;
  private static final int LONG = 1024;

  private TruncationCases() {}

  /** The cases. */
  public static List<Case> all() {
    return List.of(
        Case.of(
            Area.ERRORS,
            "truncation",
            "fi_cq(3), FI_ETRUNC; fi_msg(3), fi_recv: a message longer than its receive completes"
                + " it with an error",
            TruncationCases::reported),
        Case.of(
            Area.ERRORS,
            "truncation-context",
            "fi_cq(3), fi_cq_err_entry, op_context: an error names the operation that failed",
            TruncationCases::context),
        Case.of(
            Area.ERRORS,
            "truncation-bounds",
            "fi_msg(3), fi_recv: no byte behind the receive's buffer is written",
            TruncationCases::bounds),
        Case.of(
            Area.ERRORS,
            "truncation-goes-on",
            "fi_cq(3), fi_cq_readerr: once the error was read the queue goes on, and the next"
                + " message arrives",
            TruncationCases::goesOn));
  }

  /** Sends too much into a receive of the first bytes; the completion that it led to. */
  private static Optional<Completion> truncate(Bench bench, Pair pair, Buffer into, int slot) {
    Buffer from = pair.left().buffer(LONG, Access.SEND);
    from.fill(LONG, 91);
    int before = pair.right().completions().size();
    pair.right()
        .post(
            "fi_recv of %d bytes".formatted(SHORT),
            () ->
                pair.right()
                    .endpoint()
                    .recv(
                        into.address(),
                        SHORT,
                        into.descriptor(),
                        org.jofi.fabric.AddressVector.ANY,
                        slot));
    pair.left().send(from, LONG, pair.toRight());
    bench.within(bench.patience(), () -> pair.right().completions().size() > before);
    List<Completion> all = pair.right().completions().all();
    return all.size() > before ? Optional.of(all.get(before)) : Optional.empty();
  }

  private static void reported(Bench bench) {
    Pair pair = bench.pair();
    Buffer into = pair.right().buffer(LONG, Access.RECV);
    Optional<Completion> completion = truncate(bench, pair, into, pair.right().slot());
    boolean error =
        completion
            .filter(
                c ->
                    c.failed()
                        && (c.errno() == FabricErrno.ETRUNC || c.errno() == FabricErrno.EMSGSIZE))
            .isPresent();
    Expect.that(
        error,
        "a receive of %d bytes to fail with FI_ETRUNC or FI_EMSGSIZE for a message of %d"
            .formatted(SHORT, LONG),
        completion.map(Completion::toString).orElse("nothing completed"));
  }

  private static void context(Bench bench) {
    Pair pair = bench.pair();
    Buffer into = pair.right().buffer(LONG, Access.RECV);
    int slot = pair.right().slot();
    Optional<Completion> error = truncate(bench, pair, into, slot).filter(Completion::failed);
    if (error.isEmpty()) {
      throw new NotClaimedException("reports no error for a truncated receive; see truncation");
    }
    Expect.same("the slot that the error names", slot, error.get().context());
  }

  private static void bounds(Bench bench) {
    Pair pair = bench.pair();
    Buffer into = pair.right().buffer(LONG, Access.RECV);
    into.clear();
    truncate(bench, pair, into, pair.right().slot());
    bench.watch();
    long at = Bytes.touched(into.piece(SHORT, LONG - SHORT));
    Expect.that(
        at < 0,
        "no byte behind a receive of %d to be written".formatted(SHORT),
        "byte %d behind it was".formatted(at));
  }

  private static void goesOn(Bench bench) {
    Pair pair = bench.pair();
    Buffer into = pair.right().buffer(LONG, Access.RECV);
    truncate(bench, pair, into, pair.right().slot());
    Buffer from = pair.left().buffer(SHORT, Access.SEND);
    Buffer next = pair.right().buffer(SHORT, Access.RECV);
    from.fill(SHORT, 92);
    int received = pair.right().recv(next, SHORT);
    pair.left().send(from, SHORT, pair.toRight());
    pair.right().success(received, "the receive after a truncated one");
    Expect.that(Bytes.match(next.memory(), 92), "the next message whole", "it is another");
  }
}

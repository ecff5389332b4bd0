package org.jofi.conformance.errors;

import java.time.Duration;
import java.util.List;
import org.jofi.conformance.bench.Bench;
import org.jofi.conformance.bench.Buffer;
import org.jofi.conformance.bench.Completion;
import org.jofi.conformance.bench.Expect;
import org.jofi.conformance.bench.NotClaimedException;
import org.jofi.conformance.bench.Pair;
import org.jofi.conformance.bench.Target;
import org.jofi.conformance.rule.Area;
import org.jofi.conformance.rule.Case;
import org.jofi.fabric.Access;
import org.jofi.fabric.PostFlags;

/** Operations that the target must refuse: a key that no region has. */
public final class RemoteErrorCases {
  private static final int BYTES = 4096;
  private static final long NO_SUCH_KEY = 0x0BAD_0BADL;
  private static final Duration FOR_AN_ANSWER = Duration.ofSeconds(2);

  private RemoteErrorCases() {}

  /** The cases. */
  public static List<Case> all() {
    return List.of(
        remote(
            "bad-key-write",
            "fi_cq(3), fi_cq_readerr; fi_endpoint(3), FI_DELIVERY_COMPLETE: a write with a key that"
                + " no region has completes with an error",
            RemoteErrorCases::badKeyWrite),
        remote(
            "bad-key-read",
            "fi_cq(3), fi_cq_readerr: a read with a key that no region has completes with an error",
            RemoteErrorCases::badKeyRead),
        remote(
            "errno-positive",
            "fi_cq(3), fi_cq_err_entry, err: an error tells a positive errno",
            RemoteErrorCases::errnoPositive),
        remote(
            "operation-context",
            "fi_cq(3), fi_cq_err_entry, op_context: an error names the operation that failed",
            RemoteErrorCases::operationContext),
        remote(
            "endpoint-survives",
            "fi_endpoint(3), FI_EP_RDM: an operation that failed does not end the traffic with the"
                + " peer",
            RemoteErrorCases::endpointSurvives));
  }

  private static Case remote(String name, String rule, Case.Body body) {
    return Case.of(Area.ERRORS, name, rule, body).alone();
  }

  private static Completion write(Bench bench, Pair pair) {
    Buffer source = pair.left().buffer(BYTES, Access.WRITE);
    int before = pair.left().completions().size();
    pair.left().write(source, BYTES, pair.toRight(), badTarget(pair), PostFlags.DELIVERY_COMPLETE);
    return completionAfter(bench, pair, before, "a write with a key that no region has");
  }

  private static Completion read(Bench bench, Pair pair) {
    Buffer into = pair.left().buffer(BYTES, Access.READ);
    int before = pair.left().completions().size();
    pair.left().read(into, BYTES, pair.toRight(), badTarget(pair));
    return completionAfter(bench, pair, before, "a read with a key that no region has");
  }

  /** A place in memory that is there, so that a provider that does not check cannot crash. */
  private static Target badTarget(Pair pair) {
    Buffer real = pair.right().buffer(BYTES, Access.REMOTE_WRITE | Access.REMOTE_READ);
    return new Target(real.target().address(), NO_SUCH_KEY);
  }

  private static Completion completionAfter(Bench bench, Pair pair, int before, String what) {
    boolean came = bench.within(FOR_AN_ANSWER, () -> pair.left().completions().size() > before);
    Expect.that(
        came, what + " to complete", "not within %d s".formatted(FOR_AN_ANSWER.toSeconds()));
    return pair.left().completions().all().get(before);
  }

  private static void badKeyWrite(Bench bench) {
    Completion completion = write(bench, bench.pair());
    Expect.that(completion.failed(), "the write to fail", completion.toString());
  }

  private static void badKeyRead(Bench bench) {
    Completion completion = read(bench, bench.pair());
    Expect.that(completion.failed(), "the read to fail", completion.toString());
  }

  private static void errnoPositive(Bench bench) {
    Completion completion = anError(bench);
    Expect.that(completion.errno() > 0, "an errno above 0", completion.toString());
  }

  private static void operationContext(Bench bench) {
    Pair pair = bench.pair();
    Completion completion = failedRead(bench, pair);
    int last = pair.left().slot() - 1;
    Expect.same("the slot that the error names", last, completion.context());
  }

  private static Completion anError(Bench bench) {
    return failedRead(bench, bench.pair());
  }

  /** A read always waits for the target, so that it is told of a refusal. */
  private static Completion failedRead(Bench bench, Pair pair) {
    try {
      Completion completion = read(bench, pair);
      if (completion.failed()) {
        return completion;
      }
    } catch (org.jofi.conformance.bench.BrokenRuleException never) {
      throw new NotClaimedException("the read never completes; see bad-key-read");
    }
    throw new NotClaimedException("reports no error for a read with a bad key; see bad-key-read");
  }

  private static void endpointSurvives(Bench bench) {
    Pair pair = bench.pair();
    Buffer into = pair.left().buffer(BYTES, Access.READ);
    int before = pair.left().completions().size();
    pair.left().read(into, BYTES, pair.toRight(), badTarget(pair));
    bench.within(FOR_AN_ANSWER, () -> pair.left().completions().size() > before);
    Buffer source = pair.left().buffer(BYTES, Access.WRITE);
    Buffer target = pair.right().buffer(BYTES, Access.REMOTE_WRITE);
    source.fill(BYTES, 93);
    int slot =
        pair.left()
            .write(source, BYTES, pair.toRight(), target.target(), PostFlags.DELIVERY_COMPLETE);
    pair.left().success(slot, "a good write after a read that the target had to refuse");
    bench.awaitBytes(pair.right(), "that write", target.memory(), 93);
  }
}

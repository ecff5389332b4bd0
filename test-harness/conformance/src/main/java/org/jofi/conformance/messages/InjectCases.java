package org.jofi.conformance.messages;

import java.util.List;
import org.jofi.conformance.bench.Bench;
import org.jofi.conformance.bench.Buffer;
import org.jofi.conformance.bench.Bytes;
import org.jofi.conformance.bench.Expect;
import org.jofi.conformance.bench.NotClaimedException;
import org.jofi.conformance.bench.Pair;
import org.jofi.conformance.rule.Area;
import org.jofi.conformance.rule.Case;
import org.jofi.fabric.Access;
import org.jofi.fabric.FabricErrno;

/** Messages whose buffer is free at once. */
public final class InjectCases {
  private InjectCases() {}

  /** The cases. */
  public static List<Case> all() {
    return List.of(
        Case.of(
            Area.MESSAGES,
            "inject-buffer-free",
            "fi_msg(3), fi_inject: the buffer may be used again as soon as the call returns",
            InjectCases::bufferFree),
        Case.of(
            Area.MESSAGES,
            "inject-silent",
            "fi_msg(3), fi_inject: a successful inject writes no completion",
            InjectCases::silent),
        Case.of(
            Area.MESSAGES,
            "inject-limit",
            "fi_endpoint(3), inject_size: a longer inject is refused, and sends nothing",
            InjectCases::limit));
  }

  private static int most(Pair pair) {
    long most = pair.left().endpoint().limits().injectedSendBytes();
    if (most == 0) {
      throw new NotClaimedException("inject_size is 0");
    }
    return (int) Math.min(most, 4096);
  }

  private static void bufferFree(Bench bench) {
    Pair pair = bench.pair();
    int bytes = most(pair);
    Buffer from = pair.left().buffer(bytes, Access.SEND);
    Buffer into = pair.right().buffer(bytes, Access.RECV);
    int received = pair.right().recv(into, bytes);
    from.fill(bytes, 12);
    inject(pair, from, bytes);
    from.clear();
    pair.right().success(received, "the receive of an injected message");
    long at = Bytes.mismatch(into.memory(), 12);
    Expect.that(
        at < 0,
        "the %d bytes that were in the buffer when fi_inject was called".formatted(bytes),
        "byte %d is another".formatted(at));
  }

  private static void silent(Bench bench) {
    Pair pair = bench.pair();
    int bytes = most(pair);
    Buffer from = pair.left().buffer(bytes, Access.SEND);
    Buffer into = pair.right().buffer(bytes, Access.RECV);
    int before = pair.left().completions().size();
    int received = pair.right().recv(into, bytes);
    inject(pair, from, bytes);
    pair.right().success(received, "the receive of an injected message");
    bench.watch();
    Expect.that(
        pair.left().completions().size() == before,
        "no completion of an inject",
        "the sender has " + pair.left().completions());
  }

  private static void limit(Bench bench) {
    Pair pair = bench.pair();
    long most = pair.left().endpoint().limits().injectedSendBytes();
    int tooLong = (int) Math.min(most + 1, 1 << 24);
    Buffer from = pair.left().buffer(tooLong, Access.SEND);
    Buffer into = pair.right().buffer(tooLong, Access.RECV);
    int received = pair.right().recv(into, tooLong);
    int code = pair.left().endpoint().inject(from.address(), tooLong, pair.toRight());
    Expect.that(
        code < 0 && code != -FabricErrno.EAGAIN,
        "an inject of %d bytes to be refused".formatted(tooLong),
        "it returned " + Expect.code(code));
    bench.watch();
    Expect.that(
        pair.right().completions().of(received).isEmpty(),
        "nothing to be sent by a refused inject",
        "the receive completed: " + pair.right().completions());
  }

  private static void inject(Pair pair, Buffer from, int bytes) {
    pair.left()
        .post(
            "fi_inject of %d bytes".formatted(bytes),
            () -> pair.left().endpoint().inject(from.address(), bytes, pair.toRight()));
  }
}

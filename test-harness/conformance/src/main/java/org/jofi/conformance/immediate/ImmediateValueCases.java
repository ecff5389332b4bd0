package org.jofi.conformance.immediate;

import java.util.List;
import org.jofi.conformance.bench.Bench;
import org.jofi.conformance.bench.Buffer;
import org.jofi.conformance.bench.Completion;
import org.jofi.conformance.bench.Expect;
import org.jofi.conformance.bench.Pair;
import org.jofi.conformance.rule.Case;
import org.jofi.fabric.Access;
import org.jofi.fabric.CompletionFlags;

/** Which bits of immediate data arrive. */
public final class ImmediateValueCases {
  private static final long[] VALUES = {
    0, -1, 0xAAAA_AAAA_AAAA_AAAAL, 0x5555_5555_5555_5555L, 0x8080_8080_8080_8080L
  };

  private ImmediateValueCases() {}

  /** The cases. */
  public static List<Case> all() {
    return List.of(
        Immediates.of(
            "width-of-writes",
            "fi_domain(3), cq_data_size: of a write's immediate data, as many bytes arrive as the"
                + " domain tells",
            ImmediateValueCases::widthOfWrites),
        Immediates.of(
            "width-of-sends",
            "fi_domain(3), cq_data_size: of a send's immediate data, as many bytes arrive as the"
                + " domain tells",
            ImmediateValueCases::widthOfSends),
        Immediates.of(
            "plain-send-has-none",
            "fi_cq(3), FI_REMOTE_CQ_DATA: the flag is set only if immediate data was sent",
            ImmediateValueCases::plainSendHasNone));
  }

  private static void widthOfWrites(Bench bench) {
    Pair pair = bench.pair();
    long mask = Immediates.mask(bench.info());
    Buffer source = pair.left().buffer(64, Access.WRITE);
    Buffer target = pair.right().buffer(64, Access.REMOTE_WRITE);
    for (int i = 0; i < VALUES.length; i++) {
      int slot = pair.left().writeData(source, 64, VALUES[i], pair.toRight(), target.target());
      Completion arrival = Immediates.arrival(bench, pair.right(), i);
      Expect.same("immediate data of a write", VALUES[i] & mask, arrival.data() & mask);
      pair.left().success(slot, "a write with immediate data");
    }
  }

  private static void widthOfSends(Bench bench) {
    Pair pair = bench.pair();
    long mask = Immediates.mask(bench.info());
    Buffer source = pair.left().buffer(64, Access.SEND);
    Buffer into = pair.right().buffer(64, Access.RECV);
    for (long value : VALUES) {
      int received = pair.right().recv(into, 64);
      int slot = pair.left().slot();
      pair.left()
          .post(
              "fi_senddata",
              () ->
                  Bench.claimed(
                      "fi_senddata",
                      pair.left()
                          .endpoint()
                          .sendData(
                              source.address(),
                              64,
                              source.descriptor(),
                              value,
                              pair.toRight(),
                              slot)));
      Completion arrival = pair.right().success(received, "the receive");
      Expect.that(
          (arrival.flags() & CompletionFlags.REMOTE_CQ_DATA) != 0,
          "the receive's completion to have FI_REMOTE_CQ_DATA",
          arrival.toString());
      Expect.same("immediate data of a send", value & mask, arrival.data() & mask);
      pair.left().success(slot, "a send with immediate data");
    }
  }

  private static void plainSendHasNone(Bench bench) {
    Pair pair = bench.pair();
    Buffer source = pair.left().buffer(64, Access.SEND);
    Buffer into = pair.right().buffer(64, Access.RECV);
    int received = pair.right().recv(into, 64);
    pair.left().send(source, 64, pair.toRight());
    Completion completion = pair.right().success(received, "the receive");
    Expect.that(
        (completion.flags() & CompletionFlags.REMOTE_CQ_DATA) == 0,
        "the completion of a message without immediate data to lack FI_REMOTE_CQ_DATA",
        completion.toString());
  }
}

package org.jofi.conformance.immediate;

import java.util.ArrayList;
import java.util.List;
import org.jofi.conformance.bench.Bench;
import org.jofi.conformance.bench.Buffer;
import org.jofi.conformance.bench.Bytes;
import org.jofi.conformance.bench.Completion;
import org.jofi.conformance.bench.Expect;
import org.jofi.conformance.bench.Pair;
import org.jofi.conformance.rule.Case;
import org.jofi.fabric.Access;
import org.jofi.fabric.CompletionQueue;

/** What the arrival of immediate data with a write means. */
public final class ArrivalCases {
  private static final int[] SIZES = {8, 64, 4096, 65_536, 1 << 20};
  private static final int MOST = SIZES[SIZES.length - 1];
  private static final int COUNT = 64;

  private ArrivalCases() {}

  /** The cases. */
  public static List<Case> all() {
    return List.of(
        Immediates.of(
            "implies-data",
            "fi_rma(3), fi_writedata: the remote completion is written after the write's bytes can"
                + " be seen",
            ArrivalCases::impliesData),
        Immediates.of(
            "length",
            "fi_cq(3), len, FI_REMOTE_CQ_DATA: the completion of a peer's write tells how many"
                + " bytes were written",
            ArrivalCases::length),
        Immediates.of(
            "takes-no-receive",
            "fi_rma(3), fi_writedata; fi_cq(3): a peer's write takes no posted receive, and its"
                + " completion has no context of this side's operations",
            ArrivalCases::takesNoReceive),
        Immediates.of(
            "exactly-once",
            "fi_rma(3), fi_writedata: each write with immediate data is announced once",
            ArrivalCases::exactlyOnce),
        Immediates.of(
            "empty-write",
            "fi_rma(3), fi_writedata: a write of no bytes announces its immediate data",
            ArrivalCases::emptyWrite));
  }

  private static void impliesData(Bench bench) {
    Pair pair = bench.pair();
    Buffer source = pair.left().buffer(MOST, Access.WRITE);
    Buffer target = pair.right().buffer(MOST, Access.REMOTE_WRITE);
    for (int i = 0; i < SIZES.length; i++) {
      int size = SIZES[i];
      source.fill(size, size + 40);
      target.clear();
      int slot = pair.left().writeData(source, size, i, pair.toRight(), target.target());
      Immediates.arrival(bench, pair.right(), i);
      long at = Bytes.mismatch(target.piece(0, size), size + 40);
      Expect.that(
          at < 0,
          "all %d bytes to be there when the immediate data arrives".formatted(size),
          "byte %d is not".formatted(at));
      pair.left().success(slot, "a write with immediate data");
    }
  }

  private static void length(Bench bench) {
    Pair pair = bench.pair();
    Buffer source = pair.left().buffer(MOST, Access.WRITE);
    Buffer target = pair.right().buffer(MOST, Access.REMOTE_WRITE);
    for (int i = 0; i < SIZES.length; i++) {
      int slot = pair.left().writeData(source, SIZES[i], i, pair.toRight(), target.target());
      Completion arrival = Immediates.arrival(bench, pair.right(), i);
      Expect.same("the length reported with immediate data", SIZES[i], arrival.lengthBytes());
      pair.left().success(slot, "a write with immediate data");
    }
  }

  private static void takesNoReceive(Bench bench) {
    Pair pair = bench.pair();
    Buffer source = pair.left().buffer(64, Access.WRITE | Access.SEND);
    Buffer target = pair.right().buffer(64, Access.REMOTE_WRITE);
    Buffer into = pair.right().buffer(64, Access.RECV);
    int received = pair.right().recv(into, 64);
    pair.left().writeData(source, 64, 5, pair.toRight(), target.target());
    bench.await(
        pair.right(),
        "the immediate data to arrive",
        () ->
            !pair.right().completions().arrivals().isEmpty()
                || pair.right().completions().of(received).isPresent());
    Expect.that(
        pair.right().completions().of(received).isEmpty(),
        "a posted receive to stay posted",
        "it completed: " + pair.right().completions());
    Completion arrival = pair.right().completions().arrivals().getFirst();
    Expect.same("the slot of the arrival", CompletionQueue.NO_CONTEXT, arrival.context());
    pair.left().send(source, 64, pair.toRight());
    pair.right().success(received, "the receive, for a message that came later");
  }

  private static void exactlyOnce(Bench bench) {
    Pair pair = bench.pair();
    Buffer source = pair.left().buffer(64, Access.WRITE);
    Buffer target = pair.right().buffer(64 * COUNT, Access.REMOTE_WRITE);
    List<Integer> slots = new ArrayList<>();
    for (int i = 0; i < COUNT; i++) {
      slots.add(
          pair.left().writeData(source, 64, i, pair.toRight(), target.target().plus(64L * i)));
    }
    for (int slot : slots) {
      pair.left().success(slot, "a write with immediate data");
    }
    Immediates.arrival(bench, pair.right(), COUNT - 1);
    bench.watch();
    List<Long> arrived =
        pair.right().completions().arrivals().stream().map(Completion::data).sorted().toList();
    List<Long> expected = new ArrayList<>();
    for (long i = 0; i < COUNT; i++) {
      expected.add(i);
    }
    Expect.that(arrived.equals(expected), "each of " + expected + " once", "arrived: " + arrived);
  }

  private static void emptyWrite(Bench bench) {
    Pair pair = bench.pair();
    Buffer source = pair.left().buffer(64, Access.WRITE);
    Buffer target = pair.right().buffer(64, Access.REMOTE_WRITE);
    int slot = pair.left().writeData(source, 0, 77, pair.toRight(), target.target());
    Expect.same(
        "the immediate data of an empty write",
        77,
        Immediates.arrival(bench, pair.right(), 0).data());
    pair.left().success(slot, "an empty write with immediate data");
  }
}

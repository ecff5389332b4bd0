package org.jofi.conformance.rma;

import java.time.Duration;
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
import org.jofi.fabric.PostFlags;

/** One-sided writes. */
public final class WriteCases {
  private static final int[] SIZES = {1, 63, 64, 65, 4096, 65_536, 1 << 20};
  private static final int MOST = SIZES[SIZES.length - 1];
  private static final int IN_FLIGHT = 32;
  private static final int SLOT_BYTES = 1024;

  private WriteCases() {}

  /** The cases. */
  public static List<Case> all() {
    return List.of(
        rma(
            "delivery-complete",
            "fi_endpoint(3), FI_DELIVERY_COMPLETE: when such a write completes, its bytes can be"
                + " seen at the target",
            WriteCases::deliveryComplete),
        rma(
            "write-lands",
            "fi_rma(3), fi_write: a write that completed lands while both sides poll",
            WriteCases::writeLands),
        rma(
            "write-bounds",
            "fi_rma(3), fi_write: a write changes no byte but those named",
            WriteCases::writeBounds),
        rma(
            "many-in-flight",
            "fi_cq(3); fi_rma(3): of many writes in flight each lands, and completes once",
            WriteCases::manyInFlight),
        rma(
            "empty-write",
            "fi_rma(3), fi_write; fi_endpoint(3), FI_DELIVERY_COMPLETE: a write of no bytes"
                + " completes",
            WriteCases::emptyWrite),
        rma(
            "write-inject",
            "fi_rma(3), FI_INJECT: the buffer may be used again as soon as the call returns, and a"
                + " completion is written",
            WriteCases::writeInject),
        rma(
            "write-inject-limit",
            "fi_endpoint(3), inject_size: a longer write with FI_INJECT is refused",
            WriteCases::writeInjectLimit));
  }

  private static Case rma(String name, String rule, Case.Body body) {
    return Case.of(Area.RMA, name, rule, body).within(Duration.ofSeconds(40));
  }

  private static void deliveryComplete(Bench bench) {
    Pair pair = bench.pair();
    Buffer source = pair.left().buffer(MOST, Access.WRITE);
    Buffer target = pair.right().buffer(MOST, Access.REMOTE_WRITE);
    for (int size : SIZES) {
      source.fill(size, size + 20);
      target.clear();
      int slot =
          pair.left()
              .write(source, size, pair.toRight(), target.target(), PostFlags.DELIVERY_COMPLETE);
      pair.left().success(slot, "a delivery-complete write of %d bytes".formatted(size));
      long at = Bytes.mismatch(target.piece(0, size), size + 20);
      Expect.that(
          at < 0,
          "all %d bytes at the target when the write completes".formatted(size),
          "byte %d is not there yet".formatted(at));
    }
  }

  private static void writeLands(Bench bench) {
    Pair pair = bench.pair();
    Buffer source = pair.left().buffer(MOST, Access.WRITE);
    Buffer target = pair.right().buffer(MOST, Access.REMOTE_WRITE);
    for (int size : SIZES) {
      source.fill(size, size + 21);
      target.clear();
      int slot = pair.left().write(source, size, pair.toRight(), target.target(), PostFlags.NONE);
      pair.left().success(slot, "a write of %d bytes".formatted(size));
      bench.awaitBytes(
          pair.right(), "a write of %d bytes".formatted(size), target.piece(0, size), size + 21);
    }
  }

  private static void writeBounds(Bench bench) {
    Pair pair = bench.pair();
    int guard = 64;
    Buffer source = pair.left().buffer(MOST, Access.WRITE);
    Buffer target = pair.right().buffer(MOST + 2 * guard, Access.REMOTE_WRITE);
    for (int size : SIZES) {
      source.fill(size, 22);
      target.clear();
      int slot =
          pair.left()
              .write(
                  source,
                  size,
                  pair.toRight(),
                  target.target().plus(guard),
                  PostFlags.DELIVERY_COMPLETE);
      pair.left().success(slot, "a write of %d bytes".formatted(size));
      bench.awaitBytes(pair.right(), "the write", target.piece(guard, size), 22);
      long before = Bytes.touched(target.piece(0, guard));
      long behind = Bytes.touched(target.piece(guard + size, guard));
      Expect.that(
          before < 0 && behind < 0,
          "a write of %d bytes to change no other".formatted(size),
          before >= 0
              ? "byte %d before it changed".formatted(guard - before)
              : "byte %d behind it changed".formatted(behind));
    }
  }

  private static void manyInFlight(Bench bench) {
    Pair pair = bench.pair();
    Buffer source = pair.left().buffer(IN_FLIGHT * SLOT_BYTES, Access.WRITE);
    Buffer target = pair.right().buffer(IN_FLIGHT * SLOT_BYTES, Access.REMOTE_WRITE);
    int[] slots = new int[IN_FLIGHT];
    for (int i = 0; i < IN_FLIGHT; i++) {
      Bytes.fill(source.piece((long) i * SLOT_BYTES, SLOT_BYTES), 100 + i);
    }
    for (int i = 0; i < IN_FLIGHT; i++) {
      long offset = (long) i * SLOT_BYTES;
      slots[i] =
          pair.left()
              .write(
                  source,
                  offset,
                  SLOT_BYTES,
                  pair.toRight(),
                  target.target().plus(offset),
                  PostFlags.DELIVERY_COMPLETE);
    }
    for (int i = 0; i < IN_FLIGHT; i++) {
      pair.left().success(slots[i], "write " + i);
      bench.awaitBytes(
          pair.right(), "write " + i, target.piece((long) i * SLOT_BYTES, SLOT_BYTES), 100 + i);
    }
    bench.watch();
    for (int i = 0; i < IN_FLIGHT; i++) {
      Expect.same("completions of write " + i, 1, pair.left().completions().countOf(slots[i]));
    }
  }

  private static void emptyWrite(Bench bench) {
    Pair pair = bench.pair();
    Buffer source = pair.left().buffer(64, Access.WRITE);
    Buffer target = pair.right().buffer(64, Access.REMOTE_WRITE);
    for (long flags : new long[] {PostFlags.NONE, PostFlags.DELIVERY_COMPLETE}) {
      int slot = pair.left().write(source, 0, pair.toRight(), target.target(), flags);
      pair.left()
          .success(
              slot,
              flags == PostFlags.NONE
                  ? "an empty write"
                  : "an empty write with FI_DELIVERY_COMPLETE");
    }
  }

  private static void writeInject(Bench bench) {
    Pair pair = bench.pair();
    int bytes = (int) Math.min(injectable(pair), 1024);
    if (bytes == 0) {
      throw new NotClaimedException("FI_OPT_INJECT_RMA_SIZE, or inject_size, is 0");
    }
    Buffer source = pair.left().buffer(bytes, Access.WRITE);
    Buffer target = pair.right().buffer(bytes, Access.REMOTE_WRITE);
    source.fill(bytes, 23);
    int slot = pair.left().write(source, bytes, pair.toRight(), target.target(), PostFlags.INJECT);
    source.clear();
    pair.left().success(slot, "a write with FI_INJECT");
    bench.awaitBytes(
        pair.right(), "what was in the buffer when the write was posted", target.memory(), 23);
  }

  private static long injectable(Pair pair) {
    return pair.left().endpoint().limits().injectedRmaBytes();
  }

  private static void writeInjectLimit(Bench bench) {
    Pair pair = bench.pair();
    int tooLong = (int) Math.min(injectable(pair) + 1, 1 << 24);
    Buffer source = pair.left().buffer(tooLong, Access.WRITE);
    Buffer target = pair.right().buffer(tooLong, Access.REMOTE_WRITE);
    int code =
        pair.left()
            .endpoint()
            .write(
                source.address(),
                tooLong,
                source.descriptor(),
                pair.toRight(),
                target.target().address(),
                target.target().key(),
                pair.left().slot(),
                PostFlags.INJECT);
    Expect.that(
        code < 0 && code != -FabricErrno.EAGAIN,
        "a write of %d bytes with FI_INJECT to be refused".formatted(tooLong),
        "it returned " + Expect.code(code));
  }
}

package org.jofi.conformance.ordering;

import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.jofi.conformance.bench.Bench;
import org.jofi.conformance.bench.Buffer;
import org.jofi.conformance.bench.Bytes;
import org.jofi.conformance.bench.Expect;
import org.jofi.conformance.bench.Pair;
import org.jofi.conformance.rule.Area;
import org.jofi.conformance.rule.Case;
import org.jofi.conformance.rule.Need;
import org.jofi.fabric.Access;
import org.jofi.fabric.MessageOrder;
import org.jofi.fabric.PostFlags;

/** Orders between writes and reads. */
public final class RmaOrderCases {
  private static final int WRITES = 96;
  private static final int SMALL = 64;
  private static final int LARGE = 65_536;
  private static final int ROUNDS = 8;

  private RmaOrderCases() {}

  /** The cases. */
  public static List<Case> all() {
    return List.of(
        Case.of(
                Area.ORDERING,
                "write-after-write",
                "fi_endpoint(3), FI_ORDER_WAW: of writes to one place the last one stays, and none"
                    + " is seen after a later one",
                RmaOrderCases::writeAfterWrite)
            .needing(Need.order(MessageOrder.WAW)),
        Case.of(
                Area.ORDERING,
                "read-after-write",
                "fi_endpoint(3), FI_ORDER_RAW: a read sees what earlier writes wrote",
                RmaOrderCases::readAfterWrite)
            .needing(Need.order(MessageOrder.RAW)),
        Case.of(
                Area.ORDERING,
                "write-after-read",
                "fi_endpoint(3), FI_ORDER_WAR: a read does not see what later writes write",
                RmaOrderCases::writeAfterRead)
            .needing(Need.order(MessageOrder.WAR)));
  }

  private static void writeAfterWrite(Bench bench) {
    Pair pair = bench.pair();
    Buffer source = pair.left().buffer(WRITES * SMALL, Access.WRITE);
    Buffer target = pair.right().buffer(SMALL, Access.REMOTE_WRITE);
    List<Integer> slots = new ArrayList<>();
    long last = 0;
    for (int i = 0; i < WRITES; i++) {
      source.memory().set(ValueLayout.JAVA_LONG, (long) i * SMALL, i + 1L);
    }
    for (int i = 0; i < WRITES; i++) {
      slots.add(
          pair.left()
              .write(
                  source,
                  (long) i * SMALL,
                  SMALL,
                  pair.toRight(),
                  target.target(),
                  PostFlags.DELIVERY_COMPLETE));
      last = notBackwards(target, last);
    }
    for (int slot : slots) {
      pair.left().success(slot, "a write");
      last = notBackwards(target, last);
    }
    bench.watch();
    Expect.same(
        "the number of the write that stays",
        WRITES,
        target.memory().get(ValueLayout.JAVA_LONG, 0));
  }

  private static long notBackwards(Buffer target, long before) {
    long now = (long) ValueLayout.JAVA_LONG.varHandle().getAcquire(target.memory(), 0L);
    Expect.that(
        now >= before,
        "no write to be seen after a later one",
        "write %d is seen after write %d".formatted(now, before));
    return now;
  }

  private static void readAfterWrite(Bench bench) {
    Pair pair = bench.pair();
    Buffer source = pair.left().buffer(LARGE, Access.WRITE);
    Buffer into = pair.left().buffer(LARGE, Access.READ);
    Buffer target = pair.right().buffer(LARGE, Access.REMOTE_WRITE | Access.REMOTE_READ);
    for (int round = 0; round < ROUNDS; round++) {
      source.fill(LARGE, 60 + round);
      into.clear();
      int written =
          pair.left().write(source, LARGE, pair.toRight(), target.target(), PostFlags.NONE);
      int read = pair.left().read(into, LARGE, pair.toRight(), target.target());
      pair.left().success(read, "the read");
      pair.left().success(written, "the write");
      bench.watch(java.time.Duration.ofMillis(2));
      long at = Bytes.mismatch(into.memory(), 60 + round);
      Expect.that(
          at < 0,
          "a read to see the write before it",
          "byte %d of %d is older".formatted(at, LARGE));
    }
  }

  private static void writeAfterRead(Bench bench) {
    Pair pair = bench.pair();
    Buffer source = pair.left().buffer(LARGE, Access.WRITE);
    Buffer into = pair.left().buffer(LARGE, Access.READ);
    Buffer target = pair.right().buffer(LARGE, Access.REMOTE_WRITE | Access.REMOTE_READ);
    for (int round = 0; round < ROUNDS; round++) {
      source.fill(LARGE, 70 + round);
      target.fill(LARGE, 170 + round);
      int read = pair.left().read(into, LARGE, pair.toRight(), target.target());
      int written =
          pair.left()
              .write(source, LARGE, pair.toRight(), target.target(), PostFlags.DELIVERY_COMPLETE);
      pair.left().success(read, "the read");
      pair.left().success(written, "the write");
      long at = Bytes.mismatch(into.memory(), 170 + round);
      Expect.that(
          at < 0,
          "a read not to see the write behind it",
          "byte %d of %d is newer".formatted(at, LARGE));
    }
  }
}

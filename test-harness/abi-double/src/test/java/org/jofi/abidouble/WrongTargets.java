package org.jofi.abidouble;

import static org.junit.jupiter.api.Assertions.assertThrows;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jofi.fabric.FabricErrno;
import org.jofi.transport.Comm;
import org.jofi.transport.CommState;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.jofi.transport.Registration;
import org.jofi.transport.RemoteMemory;
import org.jofi.transport.Use;
import org.junit.jupiter.api.function.Executable;

/**
 * Writes and reads that miss: each fails with a type, and alone. The double names the rule, the
 * other process's memory is as it was, and the communicators go on.
 */
final class WrongTargets {
  private static final byte UNTOUCHED = (byte) 0xee;
  private static final int BYTES = 8192;
  private static final int LENGTH = 64;

  /** Where what is right is written to, and read from. */
  private static final int RIGHT = BYTES / 2;

  private static final long NOBODYS_KEY = 0x7bad_7bad;

  private final Connected side;

  WrongTargets(Connected side) {
    this.side = side;
  }

  /** What is broken on purpose. */
  static Rule[] rules() {
    return new Rule[] {Rule.REMOTE_RANGE, Rule.REMOTE_KEY, Rule.REMOTE_KEY_CLOSED};
  }

  void run() {
    End send = new End(side.send());
    End receive = new End(side.receive());
    // The peer's other end reaches what is registered with this end.
    RemoteMemory sender = side.swap(send.target.remote());
    RemoteMemory receiver = side.swap(receive.target.remote());
    RemoteMemory sendersWithdrawn = side.swap(send.withdrawn.remote());
    RemoteMemory receiversWithdrawn = side.swap(receive.withdrawn.remote());
    send.hit(receiversWithdrawn);
    receive.hit(sendersWithdrawn);
    side.meet();
    send.withdrawn.close();
    receive.withdrawn.close();
    side.meet();
    send.miss(receiver, receiversWithdrawn);
    receive.miss(sender, sendersWithdrawn);
    side.meet();
    send.verify();
    receive.verify();
  }

  private static RemoteMemory remote(long lengthBytes, RemoteMemory of, long... keys) {
    long[] addresses = new long[of.rails()];
    Arrays.setAll(addresses, of::address);
    return RemoteMemory.of(lengthBytes, addresses, keys);
  }

  private static long[] keys(RemoteMemory of) {
    long[] keys = new long[of.rails()];
    Arrays.setAll(keys, of::key);
    return keys;
  }

  /** Each rail with the key of the next one. */
  private static long[] otherRailsKeys(RemoteMemory of) {
    long[] keys = new long[of.rails()];
    Arrays.setAll(keys, rail -> of.key((rail + 1) % of.rails()));
    return keys;
  }

  /** One end of a connection. */
  private final class End {
    private final Comm comm;
    private final MemorySegment local = side.arena().allocate(BYTES, 64);
    private final MemorySegment reached = side.arena().allocate(BYTES, 64).fill(UNTOUCHED);
    private final MemorySegment reachedOnce = side.arena().allocate(BYTES, 64).fill(UNTOUCHED);
    private final Registration registration;
    private final Registration target;
    private final Registration withdrawn;

    End(Comm comm) {
      this.comm = comm;
      side.fill(local, 0);
      registration = comm.register(local, Use.SEND, Use.RECEIVE);
      target = comm.register(reached, Use.PEER_READS, Use.PEER_WRITES);
      withdrawn = comm.register(reachedOnce, Use.PEER_READS, Use.PEER_WRITES);
    }

    void miss(RemoteMemory there, RemoteMemory gone) {
      refused(there);
      long[] nobodys = new long[there.rails()];
      Arrays.fill(nobodys, NOBODYS_KEY);
      missed(Rule.REMOTE_RANGE, remote(BYTES + LENGTH, there, keys(there)), BYTES - 1, there);
      missed(Rule.REMOTE_KEY, remote(BYTES, there, nobodys), 0, there);
      missed(Rule.REMOTE_KEY, target.remote(), 0, there);
      if (there.rails() > 1) {
        missed(Rule.REMOTE_KEY, remote(BYTES, there, otherRailsKeys(there)), 0, there);
      }
      missed(Rule.REMOTE_KEY_CLOSED, gone, 0, there);
    }

    /** What does not fit is refused by the call, and never reaches a provider. */
    private void refused(RemoteMemory there) {
      Map<String, Long> before = side.library().calls();
      for (long offset : new long[] {-1, BYTES - LENGTH + 1, BYTES, Long.MAX_VALUE}) {
        refused(() -> comm.iwrite(registration, 0, LENGTH, there, offset));
        refused(() -> comm.iwriteInline(local, 0, LENGTH, there, offset));
        refused(() -> comm.iread(registration, 0, LENGTH, there, offset));
      }
      refused(() -> comm.iwrite(registration, BYTES - 1, LENGTH, there, 0));
      refused(() -> comm.iread(registration, -1, LENGTH, there, 0));
      require(before.equals(side.library().calls()), "refused, and posted");
    }

    private static void refused(Executable post) {
      assertThrows(IllegalArgumentException.class, post);
    }

    /** All three fail, by that rule; what is right goes on. */
    private void missed(Rule rule, RemoteMemory wrong, long offset, RemoteMemory right) {
      int before = side.library().violations().size();
      failed(rule, () -> comm.iwrite(registration, 0, LENGTH, wrong, offset));
      failed(rule, () -> comm.iwriteInline(local, 0, LENGTH, wrong, offset));
      failed(rule, () -> comm.iread(registration, 0, LENGTH, wrong, offset));
      List<Violation> all = side.library().violations();
      List<Violation> found = all.subList(before, all.size());
      require(
          found.stream().allMatch(violation -> violation.rule() == rule)
              && found.stream()
                  .map(Violation::call)
                  .collect(Collectors.toSet())
                  .equals(Set.of("fi_read", "fi_writemsg")),
          "%s, and found: %s".formatted(rule, found));
      hit(right);
    }

    private void failed(Rule rule, Connected.Post post) {
      long request = side.post(post);
      side.failed(comm, request, FailureCause.FABRIC);
      Failure failure = comm.failure(request).orElseThrow();
      // A key that died is found by the peer's NIC, all else by this double.
      int errno = rule == Rule.REMOTE_KEY_CLOSED ? FabricErrno.EIO : FabricErrno.EINVAL;
      require(
          failure.errno() == errno && failure.where().contains("data rail"), failure.toString());
      require(comm.state() == CommState.OPEN, "no longer open: " + comm.failure());
    }

    /** Writes and reads back. */
    private void hit(RemoteMemory there) {
      MemorySegment back = side.arena().allocate(LENGTH, 64);
      Registration into = comm.register(back, Use.RECEIVE);
      side.moved(
          comm, side.post(() -> comm.iwrite(registration, RIGHT, LENGTH, there, RIGHT)), LENGTH);
      side.moved(comm, side.post(() -> comm.iread(into, 0, LENGTH, there, RIGHT)), LENGTH);
      require(back.mismatch(local.asSlice(RIGHT, LENGTH)) < 0, "other bytes are back");
      into.close();
    }

    /** Nothing that missed left a trace, here or there. */
    void verify() {
      MemorySegment expected = side.arena().allocate(BYTES, 64);
      side.fill(expected, 0);
      require(expected.mismatch(local) < 0, "something was read");
      Connected.pattern(expected, 0, 1 - side.index());
      expected.asSlice(0, RIGHT).fill(UNTOUCHED);
      expected.asSlice(RIGHT + LENGTH).fill(UNTOUCHED);
      require(expected.mismatch(reached) < 0, "something was written");
      require(expected.mismatch(reachedOnce) < 0, "something was written late");
    }

    private void require(boolean holds, String otherwise) {
      if (!holds) {
        throw new AssertionError(comm.label() + ": " + otherwise);
      }
    }
  }
}

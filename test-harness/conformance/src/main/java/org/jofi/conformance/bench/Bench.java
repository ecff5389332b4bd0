package org.jofi.conformance.bench;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;
import org.jofi.conformance.subject.Subject;
import org.jofi.fabric.Access;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricInfo;

/**
 * Where a case opens sides of one subject, and polls all of them while it waits: with manual
 * progress nothing moves otherwise. One thread, but for what says otherwise.
 *
 * <p>Memory stays allocated until the bench is closed, and for good if that fails: a provider may
 * still use it.
 */
public final class Bench implements AutoCloseable {
  private static final int PAGE = 4096;

  /** A thread that got no processor has watched nothing, however long it took. */
  private static final int LEAST_POLLS = 24;

  /** After so long without anything, a case waits for what takes long, or must not come. */
  private static final long SPIN_NANOS = 2_000_000;

  /** Then others get the processor between polls. */
  private static final long PAUSE_NANOS = 50_000;

  private final Subject subject;
  private final List<FabricInfo> infos;
  private final Arena arena = Arena.ofShared();
  private final List<Peer> sides = new ArrayList<>();
  private final AtomicLong lastKey;

  /**
   * @param subject what is examined
   * @param infos the NICs that answered, at least one
   */
  public Bench(Subject subject, List<FabricInfo> infos) {
    this(subject, infos, new AtomicLong(100));
  }

  private Bench(Subject subject, List<FabricInfo> infos, AtomicLong lastKey) {
    this.subject = subject;
    this.infos = List.copyOf(infos);
    this.lastKey = lastKey;
  }

  /**
   * A bench for another thread, which polls its own sides only, and never gives a key that this one
   * gives. Whoever asked closes it, before this one.
   */
  public Bench another() {
    return new Bench(subject, infos, lastKey);
  }

  /** What is examined. */
  public Subject subject() {
    return subject;
  }

  /** How long a case waits for what must come. */
  public Duration patience() {
    return subject.patience();
  }

  /** How the NIC that cases use was negotiated. */
  public FabricInfo info() {
    return infos.getFirst();
  }

  /** All NICs that answered, one for each domain. */
  public List<FabricInfo> rails() {
    List<FabricInfo> rails = new ArrayList<>();
    for (FabricInfo info : infos) {
      if (info.provider().equals(info().provider())
          && rails.stream().noneMatch(rail -> rail.domainName().equals(info.domainName()))) {
        rails.add(info);
      }
    }
    return rails;
  }

  /** Zeroed memory, page-aligned. */
  public MemorySegment allocate(long bytes) {
    return arena.allocate(bytes, PAGE);
  }

  /** A key that no region of this bench has. Any thread. */
  public long freshKey() {
    return lastKey.incrementAndGet();
  }

  /** A side with a domain of its own on the usual NIC. */
  public Peer open(String label) {
    return open(label, info());
  }

  /** A side with a domain of its own. */
  public Peer open(String label, FabricInfo info) {
    return add(Peer.open(this, label, info));
  }

  /** Another endpoint in the domain of that side, which may be another bench's. */
  public Peer beside(Peer other, String label) {
    return add(Peer.beside(this, label, other));
  }

  private Peer add(Peer side) {
    sides.add(side);
    return side;
  }

  /** Two sides on the usual NIC, connected. */
  public Pair pair() {
    return connect(open("left"), open("right"));
  }

  /** Makes two sides known to each other, and lets a message pass each way. */
  public Pair connect(Peer left, Peer right) {
    Pair pair = new Pair(left, right, left.know(right), right.know(left));
    greet(pair);
    greet(pair.turned());
    return pair;
  }

  /** The first operations to a peer get {@code -EAGAIN} until a connection stands. */
  private void greet(Pair pair) {
    Buffer in = pair.right().buffer(64, Access.RECV);
    Buffer out = pair.left().buffer(64, Access.SEND);
    int received = pair.right().recv(in, 64);
    int sent = pair.left().send(out, 8, pair.toRight());
    pair.left().success(sent, "the first message between the sides");
    pair.right().success(received, "the receive of the first message between the sides");
  }

  /** Polls every side once. */
  public int poll() {
    int polled = 0;
    for (Peer side : sides) {
      polled += side.poll();
    }
    return polled;
  }

  /** Stops polling that side: the case closes it, or leaves it to another thread. */
  public void leave(Peer side) {
    sides.remove(side);
  }

  /** Closes that side now, and stops polling it. */
  public void close(Peer side) {
    leave(side);
    side.close();
  }

  /** Takes a side back that was left to another thread. */
  public void take(Peer side) {
    sides.add(side);
  }

  /** Polls until the condition holds; false if it does not within that time. */
  public boolean within(Duration time, BooleanSupplier condition) {
    return pollUntil(condition, time, 0);
  }

  /** Polls for as long as the subject wants to be watched, whatever comes. */
  public void watch() {
    watch(subject.watch());
  }

  /** Polls for a while, whatever comes. */
  public void watch(Duration time) {
    pollUntil(() -> false, time, LEAST_POLLS);
  }

  /** Polls for as long as the subject wants to be watched, or until that which must not come. */
  public void watchFor(BooleanSupplier wrong) {
    pollUntil(wrong, subject.watch(), LEAST_POLLS);
  }

  private boolean pollUntil(BooleanSupplier condition, Duration time, int leastPolls) {
    long start = System.nanoTime();
    long last = start;
    for (int polls = 0; !condition.getAsBoolean(); polls++) {
      long now = System.nanoTime();
      boolean over = polls >= leastPolls && now - start > time.toNanos();
      if (over || Thread.currentThread().isInterrupted()) {
        return false;
      }
      if (poll() > 0) {
        last = now;
      } else if (now - last < SPIN_NANOS) {
        Thread.yield();
      } else {
        LockSupport.parkNanos(PAUSE_NANOS);
      }
    }
    return true;
  }

  /** Polls until the condition holds, which it must. */
  public void await(Peer side, String what, BooleanSupplier condition) {
    if (!within(patience(), condition)) {
      throw new BrokenRuleException(
          what,
          "not within %d s; %s has %s"
              .formatted(patience().toSeconds(), side.label(), summary(side)));
    }
  }

  private static String summary(Peer side) {
    List<Completion> all = side.completions().all();
    return all.size() <= 8
        ? "completions " + all
        : "%d completions, the last %s".formatted(all.size(), all.getLast());
  }

  /** Polls until all bytes of a segment are those of {@link Bytes#fill}, which must happen. */
  public void awaitBytes(Peer side, String what, MemorySegment memory, long seed) {
    if (!within(patience(), () -> Bytes.match(memory, seed))) {
      long at = Bytes.mismatch(memory, seed);
      throw new BrokenRuleException(
          "%s to arrive at %s".formatted(what, side.label()),
          "after %d s byte %d of %d is still another"
              .formatted(patience().toSeconds(), at, memory.byteSize()));
    }
  }

  /** Posts; polls and tries again after {@code -EAGAIN}; anything else but 0 breaks the rule. */
  public void post(Peer side, String what, IntSupplier call) {
    int[] code = new int[1];
    await(
        side,
        "%s on %s to be taken".formatted(what, side.label()),
        () -> (code[0] = call.getAsInt()) != -FabricErrno.EAGAIN);
    Expect.that(
        code[0] == 0,
        "%s on %s to return 0 or -FI_EAGAIN".formatted(what, side.label()),
        "it returned " + Expect.code(code[0]));
  }

  /**
   * The code that a call returned, unless the provider does not have the call.
   *
   * @throws NotClaimedException if it does not
   */
  public static int claimed(String call, int code) {
    if (code == -FabricErrno.ENOSYS || code == -FabricErrno.EOPNOTSUPP) {
      throw new NotClaimedException("%s returns %s".formatted(call, Expect.code(code)));
    }
    return code;
  }

  /** Closes all sides, each as far as it goes, and frees the memory if all went well. */
  @Override
  public void close() {
    List<RuntimeException> failures = new ArrayList<>();
    for (Peer side : sides.reversed()) {
      try {
        side.close();
      } catch (RuntimeException e) {
        failures.add(e);
      }
    }
    sides.clear();
    if (failures.isEmpty()) {
      arena.close();
      return;
    }
    RuntimeException first = failures.removeFirst();
    failures.forEach(first::addSuppressed);
    throw first;
  }
}

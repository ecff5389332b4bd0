package org.jofi.mr.cache;

import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;
import org.openjdk.jcstress.infra.results.ZI_Result;
import org.openjdk.jcstress.infra.results.ZZI_Result;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** Who takes, drops and closes a registration at the same time. */
public class LeaseStress {
  private LeaseStress() {}

  /** One whose cache only counts what it is told. */
  static class Leases extends LeaseCount {
    private final AtomicInteger told = new AtomicInteger();
    private final AtomicInteger batches = new AtomicInteger();

    Leases() {
      super(null);
    }

    @Override
    final void hitBatch() {
      batches.incrementAndGet();
    }

    @Override
    final void becameIdle(boolean byUse) {
      told.incrementAndGet();
    }

    final int told() {
      return told.get();
    }

    final int batches() {
      return batches.get();
    }
  }

  /** Idle, as it waits in the queue for eviction. */
  static class Idle extends Leases {
    Idle() {
      drop(LEASE, 0);
      stopTelling();
    }
  }

  /** A hit, while the cache closes it. */
  @JCStressTest
  @Outcome(id = "true, false", expect = Expect.ACCEPTABLE, desc = "leased, and stays open")
  @Outcome(id = "false, true", expect = Expect.ACCEPTABLE, desc = "closed, and is not leased")
  @Outcome(expect = Expect.FORBIDDEN, desc = "leased and closed, or neither")
  @State
  public static class HitAgainstClose {
    private final Idle lease = new Idle();

    @Actor
    public void hit(ZZ_Result result) {
      result.r1 = lease.tryHit(LeaseCount.LEASE, 1);
    }

    @Actor
    public void close(ZZ_Result result) {
      result.r2 = lease.closeIfIdle();
    }
  }

  /** A request begins, while the memory is closed under its lease. */
  @JCStressTest
  @Outcome(id = "true, false, 1", expect = Expect.ACCEPTABLE, desc = "used, and stays open")
  @Outcome(id = "false, true, 0", expect = Expect.ACCEPTABLE, desc = "closed, and is not used")
  @Outcome(expect = Expect.FORBIDDEN, desc = "used and closed, or neither, or miscounted")
  @State
  public static class UseAgainstClose {
    private final Leases lease = new Leases();

    @Actor
    public void use(ZZI_Result result) {
      result.r1 = lease.tryUse(1);
    }

    @Actor
    public void close(ZZI_Result result) {
      result.r2 = lease.closeIfUnused();
    }

    @Arbiter
    public void count(ZZI_Result result) {
      result.r3 = lease.uses();
    }
  }

  /** Two end at the same time what is the last lease and the last use. */
  @JCStressTest
  @Outcome(id = "1, 0", expect = Expect.ACCEPTABLE, desc = "one of them tells")
  @Outcome(expect = Expect.FORBIDDEN, desc = "nobody tells, or both do")
  @State
  public static class LastTwoDrop {
    private final Leases lease = new Leases();

    public LastTwoDrop() {
      lease.tryUse(0);
    }

    @Actor
    public void endUse() {
      lease.drop(LeaseCount.USE, 1);
    }

    @Actor
    public void release() {
      lease.drop(LeaseCount.LEASE, 1);
    }

    @Arbiter
    public void count(II_Result result) {
      result.r1 = lease.told();
      result.r2 = lease.leases() + lease.uses();
    }
  }

  /** The cache asks to be told, while the last lease is dropped. */
  @JCStressTest
  @Outcome(id = "true, 1", expect = Expect.ACCEPTABLE, desc = "it asked in time, and was told")
  @Outcome(id = "false, 0", expect = Expect.ACCEPTABLE, desc = "it was idle already")
  @Outcome(expect = Expect.FORBIDDEN, desc = "it waits for what nobody tells")
  @State
  public static class AskAgainstDrop {
    private final Idle lease = new Idle();

    private final int before;

    public AskAgainstDrop() {
      lease.tryHit(LeaseCount.LEASE, 0);
      before = lease.told();
    }

    @Actor
    public void drop() {
      lease.drop(LeaseCount.LEASE, 1);
    }

    @Actor
    public void ask(ZI_Result result) {
      result.r1 = lease.askToBeTold();
    }

    @Arbiter
    public void count(ZI_Result result) {
      result.r2 = lease.told() - before;
    }
  }

  /** Two hits, one of which fills the batch. */
  @JCStressTest
  @Outcome(id = "1", expect = Expect.ACCEPTABLE, desc = "one batch")
  @Outcome(expect = Expect.FORBIDDEN, desc = "64 hits are lost, or counted twice")
  @State
  public static class BatchOfHits {
    private final Idle lease = new Idle();

    public BatchOfHits() {
      for (int i = 0; i < LeaseCount.HIT_BATCH - 2; i++) {
        lease.tryHit(LeaseCount.LEASE, 0);
      }
    }

    @Actor
    public void hit() {
      lease.tryHit(LeaseCount.LEASE, 1);
    }

    @Actor
    public void use() {
      lease.tryHit(LeaseCount.USE, 1);
    }

    @Arbiter
    public void count(I_Result result) {
      result.r1 = lease.batches();
    }
  }
}

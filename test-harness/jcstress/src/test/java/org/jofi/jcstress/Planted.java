package org.jofi.jcstress;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/** Counts without atomicity: one of two is lost at times, which has to be found. */
@JCStressTest
@Outcome(id = "2", expect = Expect.ACCEPTABLE, desc = "both counted")
@Outcome(expect = Expect.FORBIDDEN, desc = "one lost")
@State
public class Planted {
  private volatile int count;

  @Actor
  @SuppressWarnings("NonAtomicVolatileUpdate") // Which is what is planted.
  public void count() {
    count++;
  }

  @Actor
  @SuppressWarnings("NonAtomicVolatileUpdate")
  public void countToo() {
    count++;
  }

  @Arbiter
  public void result(I_Result result) {
    result.r1 = count;
  }
}

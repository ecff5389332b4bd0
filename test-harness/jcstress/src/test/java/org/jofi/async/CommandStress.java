package org.jofi.async;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jofi.transport.TransportException;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.I_Result;

/** What threads hand to the driver's. */
public class CommandStress {
  /** No machine is busy for so long. */
  private static final long WAIT_NS = TimeUnit.SECONDS.toNanos(20);

  private CommandStress() {}

  /** Counts how often it was carried out. */
  static final class Counted extends Command {
    private final AtomicInteger times = new AtomicInteger();

    int times() {
      return times.get();
    }

    @Override
    void carryOut() {
      times.incrementAndGet();
    }

    @Override
    void refuse(TransportException why) {}
  }

  private static void takeAll(CommandQueue queue) {
    for (Command next = queue.poll(); next != null; next = queue.poll()) {
      next.carryOut();
    }
  }

  /** A thread finds the queue full twice, while the driver's empties it. */
  @JCStressTest
  @Outcome(id = "1, 1, 1", expect = Expect.ACCEPTABLE, desc = "each carried out once")
  @Outcome(expect = Expect.FORBIDDEN, desc = "lost, or carried out twice")
  @State
  public static class MoreThanFit {
    private final CommandQueue queue = new CommandQueue(1);
    private final Counted first = new Counted();
    private final Counted second = new Counted();
    private final Counted third = new Counted();

    public MoreThanFit() {
      queue.push(first);
    }

    @Actor
    public void push() {
      queue.push(second);
      queue.push(third);
    }

    @Actor
    public void take() {
      takeAll(queue);
    }

    @Arbiter
    public void count(III_Result result) {
      takeAll(queue);
      result.r1 = first.times();
      result.r2 = second.times();
      result.r3 = third.times();
    }
  }

  /** A command that found no room wakes a driver that has emptied the queue and waits. */
  @JCStressTest
  @Outcome(id = "1", expect = Expect.ACCEPTABLE, desc = "carried out, without another wait")
  @Outcome(expect = Expect.FORBIDDEN, desc = "left while the driver sleeps")
  @State
  public static class OneThatWakes {
    private final CommandQueue queue = new CommandQueue(1);
    private final Counted wanted = new Counted();

    public OneThatWakes() {
      queue.push(Command.LOOK);
    }

    @Actor
    public void push() {
      queue.push(wanted);
    }

    /** As the driver does: it takes all that there is before it waits. */
    @Actor
    public void take(I_Result result) {
      long began = System.nanoTime();
      while (wanted.times() == 0) {
        takeAll(queue);
        if (wanted.times() == 0) {
          await();
        }
      }
      result.r1 = System.nanoTime() - began < WAIT_NS ? wanted.times() : 0;
    }

    private void await() {
      try {
        Command next = queue.poll(WAIT_NS);
        if (next != null) {
          next.carryOut();
        }
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
  }
}

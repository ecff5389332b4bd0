package org.jofi.benchmarks;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jctools.queues.varhandle.MpscBlockingConsumerVarHandleArrayQueue;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.AuxCounters;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What a command costs on its way from virtual threads to the one thread that carries it out, as
 * those of the driver in {@code api/async}. That thread takes what is there, and when nothing is,
 * it waits in the queue for a little longer each time, up to 1 ms. One operation is one command.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@State(Scope.Benchmark)
@SuppressWarnings("NullAway.Init") // JMH calls start() first.
public class CommandQueueBenchmark {
  private static final int COMMANDS = 16_384;
  private static final int CAPACITY = 4_096;
  private static final int SPINS = 10;
  private static final int YIELDS = 100;
  private static final long SHORTEST_NANOS = 1_000;
  private static final long LONGEST_NANOS = 1_000_000;

  /** Virtual threads that have commands. */
  @Param({"1", "8", "64"})
  int producers;

  /** How many of its commands one of them has under way before it waits for them. */
  @Param({"1", "16"})
  int window;

  /** Which queue. */
  @Param({"JCTOOLS", "ARRAY", "TRANSFER", "LINKED"})
  Kind kind;

  /** The queues, each with what its consumer waits by. */
  public enum Kind {
    /** JCTools' queue of many producers, whose one consumer parks in it. */
    JCTOOLS {
      @Override
      Commands open() {
        return new Blocking(new MpscBlockingConsumerVarHandleArrayQueue<>(CAPACITY));
      }
    },
    /** The JDK's bounded one: a lock and two conditions. */
    ARRAY {
      @Override
      Commands open() {
        return new Blocking(new ArrayBlockingQueue<>(CAPACITY));
      }
    },
    /** The JDK's linked one without locks, whose consumer parks in it. */
    TRANSFER {
      @Override
      Commands open() {
        return new Blocking(new LinkedTransferQueue<>());
      }
    },
    /** The JDK's linked one without locks and without waiting, which is added here. */
    LINKED {
      @Override
      Commands open() {
        return new Linked();
      }
    };

    abstract Commands open();
  }

  /** A queue for one consumer. */
  interface Commands {
    boolean offer(Command command);

    @Nullable Command poll();

    @Nullable Command poll(long nanos) throws InterruptedException;
  }

  /** Who gave it waits until it is carried out. */
  static final class Command {
    volatile int done;
    @Nullable Thread waiting;
  }

  private record Blocking(BlockingQueue<Command> queue) implements Commands {
    @Override
    public boolean offer(Command command) {
      return queue.offer(command);
    }

    @Override
    public @Nullable Command poll() {
      return queue.poll();
    }

    @Override
    public @Nullable Command poll(long nanos) throws InterruptedException {
      return queue.poll(nanos, TimeUnit.NANOSECONDS);
    }
  }

  private static final class Linked implements Commands {
    private final Queue<Command> queue = new ConcurrentLinkedQueue<>();
    private volatile @Nullable Thread parked;

    @Override
    public boolean offer(Command command) {
      queue.add(command);
      Thread consumer = parked;
      if (consumer != null) {
        parked = null;
        LockSupport.unpark(consumer);
      }
      return true;
    }

    @Override
    public @Nullable Command poll() {
      return queue.poll();
    }

    @Override
    public @Nullable Command poll(long nanos) {
      parked = Thread.currentThread();
      Command found = queue.poll();
      if (found == null) {
        LockSupport.parkNanos(this, nanos);
        found = queue.poll();
      }
      parked = null;
      return found;
    }
  }

  /**
   * What it cost, beside the time it took: of a machine that has other work, only this tells queues
   * apart.
   */
  @AuxCounters(AuxCounters.Type.EVENTS)
  @State(Scope.Thread)
  public static class Cost {
    private long commands;
    private long cpuNanos;

    /** {@return processor time of the whole process per command, in nanoseconds} */
    public long cpuNanosPerCommand() {
      return commands == 0 ? 0 : cpuNanos / commands;
    }

    /** Counts from here on. */
    @Setup(Level.Iteration)
    public void reset() {
      commands = 0;
      cpuNanos = 0;
    }
  }

  private final OperatingSystemMXBean system =
      ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
  private Commands commands;
  private Thread consumer;
  private volatile boolean stopped;

  /** Starts the consumer. */
  @Setup(Level.Trial)
  public void start() {
    commands = kind.open();
    consumer = Thread.ofPlatform().daemon().start(this::consume);
  }

  /** Ends the consumer. */
  @TearDown(Level.Trial)
  public void stop() throws InterruptedException {
    stopped = true;
    consumer.join();
  }

  private void consume() {
    int idles = 0;
    long nanos = SHORTEST_NANOS;
    try {
      while (!stopped) {
        Command command = commands.poll();
        if (command == null && idles >= SPINS + YIELDS) {
          command = commands.poll(nanos);
          nanos = Math.min(2 * nanos, LONGEST_NANOS);
        }
        if (command != null) {
          idles = 0;
          nanos = SHORTEST_NANOS;
          carryOut(command);
        } else if (idles++ < SPINS) {
          Thread.onSpinWait();
        } else {
          Thread.yield();
        }
      }
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void carryOut(Command command) {
    Thread waiting = command.waiting;
    int before = command.done;
    command.done = before + 1;
    if (waiting != null) {
      LockSupport.unpark(waiting);
    }
  }

  /** All of the commands, in equal parts. */
  @Benchmark
  @OperationsPerInvocation(COMMANDS)
  public void handOver(Cost cost) throws InterruptedException {
    long before = system.getProcessCpuTime();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < producers; i++) {
      threads.add(Thread.startVirtualThread(this::produce));
    }
    for (Thread thread : threads) {
      thread.join();
    }
    cost.cpuNanos += system.getProcessCpuTime() - before;
    cost.commands += COMMANDS;
  }

  private void produce() {
    Command[] own = new Command[window];
    for (int i = 0; i < window; i++) {
      own[i] = new Command();
    }
    // The last of a window wakes its thread, as one of many requests does that somebody waits for.
    own[window - 1].waiting = Thread.currentThread();
    int rounds = COMMANDS / producers / window;
    for (int round = 1; round <= rounds; round++) {
      for (Command command : own) {
        while (!commands.offer(command)) {
          Thread.yield();
        }
      }
      while (own[window - 1].done < round) {
        LockSupport.park(this);
      }
    }
  }
}

package org.jofi.async;

import static java.lang.System.Logger.Level.ERROR;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jofi.transport.Comm;
import org.jofi.transport.Device;
import org.jofi.transport.FailureCause;
import org.jofi.transport.Poller;
import org.jofi.transport.RecvComm;
import org.jofi.transport.SendComm;
import org.jofi.transport.TransportException;
import org.jofi.transport.diagnostics.Log;
import org.jspecify.annotations.Nullable;

/** The driver's thread: carries out commands, posts, polls, and tells of what is over. */
final class DriverThread implements Runnable, Poller.Completions {
  private static final Log LOG = new Log(Log.Name.TRANSPORT);

  /** Of each kind of work at most, before there is a turn of the next one. */
  private static final int AT_ONCE = 256;

  private static final int SPINS = 10;
  private static final int YIELDS = 100;
  private static final long SHORTEST_PAUSE_NS = 1_000;

  /** How long others wait for an answer at most, which takes as long as what the thread is at. */
  static final long ANSWER_NS = TimeUnit.SECONDS.toNanos(10);

  /** With nothing to poll, which only a command changes. */
  private static final long NOTHING_OWNED_NS = TimeUnit.SECONDS.toNanos(1);

  private final Device device;
  private final DriverOptions options;
  private final long longestPauseNanos;
  private final CommandQueue commands;
  private final Poller poller;
  private final Continuations continuations;
  private final Thread thread;
  private final CompletableFuture<Void> ended = new CompletableFuture<>();

  /** Communicators whose close is not over. */
  private final AtomicInteger open = new AtomicInteger();

  private volatile @Nullable TransportException refusal;

  /**
   * Whether the thread takes what is left in the queue: who adds to it looks at this afterwards.
   */
  private volatile boolean emptied;

  private volatile @Nullable Throwable failure;
  private volatile @Nullable Throwable problem;

  // By the thread alone.
  final PendingConnections pending = new PendingConnections();
  private final Map<Comm, OwnedComm> owned = new HashMap<>();
  private final Deque<Lane> stalled = new ArrayDeque<>();
  private @Nullable Command current;
  private boolean closing;
  private int idles;
  private long pauseNanos = SHORTEST_PAUSE_NS;

  DriverThread(Device device, DriverOptions options) {
    this.device = device;
    this.options = options;
    longestPauseNanos = options.longestPause().toNanos();
    commands = new CommandQueue(options.commands());
    continuations = new Continuations(options.continuations());
    ThreadFactory factory = options.threadFactory();
    if (factory == null) {
      String name = "jofi-driver " + device.properties().name();
      factory = Thread.ofPlatform().name(name).daemon().factory();
    }
    thread = factory.newThread(this);
    if (thread == null || thread.isVirtual()) {
      throw new IllegalArgumentException(
          "the thread factory has to make a platform thread for the driver, and made " + thread);
    }
    poller = device.openPoller();
  }

  void start() {
    try {
      thread.start();
    } catch (OutOfMemoryError none) {
      poller.close();
      throw new TransportException(
          FailureCause.EXHAUSTED,
          "no thread for the driver of %s: %s. Raise the limit on processes (ulimit -u, the cgroup's pids.max)"
              .formatted(device.properties().name(), none.getMessage()),
          none);
    }
  }

  Device device() {
    return device;
  }

  DriverOptions options() {
    return options;
  }

  Continuations continuations() {
    return continuations;
  }

  Thread thread() {
    return thread;
  }

  boolean isCurrent() {
    return Thread.currentThread().equals(thread);
  }

  /** Whoever waits on the driver's thread for what only that thread can do would wait for ever. */
  void checkMayWait(CompletableFuture<?> what) {
    if (isCurrent() && !what.isDone()) {
      throw new IllegalStateException(
          thread.getName()
              + " cannot wait for itself: leave the continuations to another executor");
    }
  }

  /** Done when the thread has ended. */
  CompletableFuture<Void> ended() {
    return ended;
  }

  @Nullable Throwable failure() {
    return failure;
  }

  /** What one of the closes failed with. */
  @Nullable Throwable problem() {
    return problem;
  }

  int stillOpen() {
    return open.get();
  }

  /** Why it takes no more commands; null if it does. */
  @Nullable TransportException refusal() {
    return refusal;
  }

  /** On any thread: false if there is no room in time. */
  boolean offer(Command command, long nanos) throws InterruptedException {
    boolean added = commands.offer(command, nanos);
    if (added) {
      refuseIfEnded(command);
    }
    return added;
  }

  /** On any thread, without waiting. */
  void push(Command command) {
    commands.push(command);
    refuseIfEnded(command);
  }

  /** The thread empties the queue when it ended: what came later is refused by who sent it. */
  private void refuseIfEnded(Command command) {
    TransportException why = refusal;
    if (why != null && emptied) {
      command.refuse(why);
    }
  }

  /** On any thread: closes all, and ends. */
  void close() {
    push(
        new Command() {
          @Override
          void carryOut() {
            startClosing(false, null);
          }

          @Override
          void refuse(TransportException why) {}
        });
  }

  @Override
  public void run() {
    try {
      while (!closing || open.get() > 0) {
        pass();
      }
    } catch (RuntimeException | Error e) {
      die(e);
    } finally {
      end();
    }
  }

  private void pass() {
    // An interrupt ends nothing here, and must not end a registration.
    Thread.interrupted();
    int work = carryOut();
    work += tryAgain() + pending.poll() + poller.poll(this, AT_ONCE);
    if (work > 0) {
      idles = 0;
      pauseNanos = SHORTEST_PAUSE_NS;
    } else {
      idle();
    }
  }

  private int carryOut() {
    int most = Math.max(AT_ONCE, commands.beforeTheNextBeyond());
    int count = 0;
    for (Command next = commands.poll(); next != null; next = commands.poll()) {
      carryOut(next);
      if (++count == most) {
        // Whoever keeps the queue full does not hold up those that found no room in it.
        next = commands.pollBeyond();
        if (next != null) {
          carryOut(next);
        }
        break;
      }
    }
    return count;
  }

  private void carryOut(Command command) {
    current = command;
    command.carryOut();
    current = null;
  }

  /** Each lane has a turn, and those that still have no room are last next time. */
  private int tryAgain() {
    int posted = 0;
    for (int lanes = stalled.size(); lanes > 0; lanes--) {
      Lane lane = stalled.getFirst();
      posted += lane.post(AT_ONCE / 8);
      stalled.removeFirst();
      if (lane.isEmpty()) {
        lane.isStalled = false;
      } else {
        stalled.addLast(lane);
      }
    }
    return posted;
  }

  private void idle() {
    boolean quiet = owned.isEmpty() && pending.isEmpty();
    idles++;
    if (!quiet && (idles <= SPINS || longestPauseNanos == 0)) {
      Thread.onSpinWait();
    } else if (!quiet && idles <= SPINS + YIELDS) {
      Thread.yield();
    } else {
      try {
        Command next = commands.poll(quiet ? NOTHING_OWNED_NS : pauseNanos);
        pauseNanos = Math.min(2 * pauseNanos, longestPauseNanos);
        if (next != null) {
          idles = 0;
          pauseNanos = SHORTEST_PAUSE_NS;
          carryOut(next);
        }
      } catch (InterruptedException e) {
        // It goes on.
      }
    }
  }

  @Override
  public void completed(Comm comm, long request, long cookie, long result) {
    OwnedComm of = owned.get(comm);
    if (of != null) {
      of.over(request, cookie, result);
    }
  }

  /** Has a lane tried again with each pass. */
  void stalled(Lane lane) {
    if (!lane.isStalled) {
      lane.isStalled = true;
      stalled.addLast(lane);
    }
  }

  /** From now on only this thread uses the communicator. */
  OwnedComm adopt(Comm comm) {
    poller.add(comm);
    OwnedComm of =
        switch (comm) {
          case SendComm send -> new OwnedSender(this, send);
          case RecvComm receive -> new OwnedReceiver(this, receive);
          default -> throw new IllegalArgumentException(comm.label());
        };
    owned.put(comm, of);
    open.incrementAndGet();
    return of;
  }

  /** Another thread closes it. */
  void forget(OwnedComm comm) {
    owned.remove(comm.comm());
    try {
      poller.remove(comm.comm());
    } catch (RuntimeException e) {
      problem = e;
    }
  }

  /** On the thread that closed it. */
  void closed(@Nullable Throwable by) {
    if (by != null) {
      problem = by;
    }
    open.decrementAndGet();
    commands.push(Command.LOOK);
  }

  private TransportException closed() {
    return new TransportException(FailureCause.CLOSED, thread.getName() + " is closed");
  }

  /**
   * @param why what requests fail with; null for what they end with by themselves
   */
  private void startClosing(boolean abort, @Nullable TransportException why) {
    if (closing) {
      return;
    }
    closing = true;
    TransportException refuse = why == null ? closed() : why;
    refusal = refuse;
    pending.refuseAll(refuse);
    for (OwnedComm comm : List.copyOf(owned.values())) {
      comm.startClosing(abort, why);
    }
    stalled.clear();
  }

  /**
   * The thread has met an error: nothing is posted or polled any more, and nobody is left waiting.
   */
  private void die(Throwable error) {
    failure = error;
    TransportException why =
        new TransportException(
            FailureCause.ABORTED, "%s ended by %s".formatted(thread.getName(), error), error);
    refusal = why;
    try {
      LOG.log(ERROR, thread.getName() + " ended; its communicators are aborted", error);
    } finally {
      Command at = current;
      if (at != null) {
        at.refuse(why);
      }
      closing = false;
      startClosing(true, why);
      while (open.get() > 0) {
        try {
          Command next = commands.poll(NOTHING_OWNED_NS);
          if (next != null) {
            next.refuse(why);
          }
        } catch (InterruptedException e) {
          // It has to go on.
        }
      }
    }
  }

  private void end() {
    TransportException why = refusal;
    if (why == null) {
      why = closed();
      refusal = why;
    }
    emptied = true;
    try {
      for (Command next = commands.poll(); next != null; next = commands.poll()) {
        next.refuse(why);
      }
      poller.close();
    } finally {
      ended.complete(null);
    }
  }
}

package org.jofi.cli.allreduce;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import java.util.List;
import org.jofi.cli.ranks.BoundedWait;
import org.jofi.cli.ranks.RankFailure;
import org.jofi.cli.ranks.RingLinks;
import org.jofi.transport.RecvComm;
import org.jofi.transport.Result;
import org.jofi.transport.SendComm;

/**
 * Runs a {@link RingSchedule} over two communicators: it sums an array of float32 over all ranks,
 * in place. For one thread; allocates nothing while it runs, once the array and the landing area,
 * where received elements wait to be added, are registered.
 *
 * <p>Several requests are in flight in each direction. In a loop, it posts what may be posted,
 * takes the oldest request that is done, and adds. While it adds, the NICs transfer the rest. If
 * the communicator says that a flush is needed, received data is flushed before it is added, sent
 * on or reported as done, since a GPU may not see it otherwise. Flushes are requests in flight like
 * others.
 */
public final class RingAllReduce implements AllReduce {
  private static final int TAG = 0;

  private final BoundedWait patience;
  private final SendComm next;
  private final RecvComm previous;
  private final RingMemory memory;
  private final RingSchedule schedule;
  private final OutgoingMemory outgoing;
  private final IncomingMemory incoming;
  private final IncomingMemory landings;
  private final long slotBytes;
  private final int window;
  private final long[] sending;
  private final long[] receiving;
  private final long[] flushing;

  // Counters of the running schedule: how many requests are posted, and how many of those are done,
  // in order.
  private int sendsPosted;
  private int sendsDone;
  private int receivesPosted;
  private int receivesArrived;
  private int flushesPosted;
  private int receivesDone;

  /**
   * Registers an array.
   *
   * @param links the connections to the neighbours
   * @param memory the array, and a landing area of {@link #landingBytes}; it must stay open longer
   *     than this
   * @param schedule this rank's
   * @param window largest number of requests in flight in each direction, 1 or more
   */
  public RingAllReduce(RingLinks links, RingMemory memory, RingSchedule schedule, int window) {
    this.patience = links.patience();
    this.next = links.toNext();
    this.previous = links.fromPrevious();
    this.memory = memory;
    this.schedule = schedule;
    this.window = window;
    this.sending = new long[window];
    this.receiving = new long[window];
    this.flushing = new long[window];
    this.slotBytes = RingMemory.slotBytes(schedule.chunkElements());
    this.outgoing = new OutgoingMemory(next, memory.array());
    this.incoming = new IncomingMemory(previous, memory.array());
    this.landings = new IncomingMemory(previous, memory.landing());
  }

  /** The length of the landing area that it needs, in bytes. */
  public static long landingBytes(int chunkElements, int window) {
    return window * RingMemory.slotBytes(chunkElements);
  }

  @Override
  public List<String> paths() {
    return List.of(outgoing.path(), incoming.path(), landings.path());
  }

  @Override
  public void run() {
    sendsPosted = 0;
    sendsDone = 0;
    receivesPosted = 0;
    receivesArrived = 0;
    flushesPosted = 0;
    receivesDone = 0;
    patience.progressed();
    while (receivesDone < schedule.receives() || sendsDone < schedule.sends()) {
      boolean worked = postReceives();
      worked |= postSends();
      worked |= takeReceive();
      worked |= postFlushes();
      worked |= takeFlush();
      worked |= takeSend();
      if (worked) {
        patience.progressed();
      } else {
        patience.idle("its neighbours in the ring");
      }
    }
  }

  private boolean postReceives() {
    boolean worked = false;
    while (receivesPosted < schedule.receives()
        && receivesPosted - receivesDone < window
        && schedule.receiveNeeds(receivesPosted) < sendsDone) {
      int receive = receivesPosted;
      long request =
          into(receive).irecv(offset(receive), bytes(schedule.receiveCount(receive)), TAG);
      if (request == Result.TRY_AGAIN) {
        break;
      }
      receiving[slot(receive)] = request;
      receivesPosted++;
      worked = true;
    }
    return worked;
  }

  private boolean postSends() {
    boolean worked = false;
    while (sendsPosted < schedule.sends()
        && sendsPosted - sendsDone < window
        && schedule.sendNeeds(sendsPosted) < receivesDone) {
      long request =
          outgoing.isend(
              bytes(schedule.sendOffset(sendsPosted)), bytes(schedule.sendCount(sendsPosted)), TAG);
      if (request == Result.TRY_AGAIN) {
        break;
      }
      sending[slot(sendsPosted)] = request;
      sendsPosted++;
      worked = true;
    }
    return worked;
  }

  private boolean takeReceive() {
    if (receivesArrived == receivesPosted) {
      previous.progress();
      return false;
    }
    int receive = receivesArrived;
    long request = receiving[slot(receive)];
    long result = previous.test(request);
    if (result == Result.IN_PROGRESS) {
      return false;
    }
    int count = schedule.receiveCount(receive);
    if (result < 0) {
      throw patience.failed(previous, request, result, "receiving chunk " + receive);
    }
    if (result != bytes(count)) {
      throw new RankFailure(
          "chunk %d has %d bytes, %d arrived".formatted(receive, bytes(count), result));
    }
    receivesArrived++;
    return true;
  }

  private boolean postFlushes() {
    boolean worked = false;
    while (flushesPosted < receivesArrived) {
      int receive = flushesPosted;
      long request = into(receive).iflush(offset(receive), bytes(schedule.receiveCount(receive)));
      if (request == Result.TRY_AGAIN) {
        break;
      }
      flushing[slot(receive)] = request;
      flushesPosted++;
      worked = true;
    }
    return worked;
  }

  /** Completes the oldest receive if its data is visible. */
  private boolean takeFlush() {
    if (receivesDone == flushesPosted) {
      return false;
    }
    int receive = receivesDone;
    long request = flushing[slot(receive)];
    if (request != Result.NOTHING_TO_DO) {
      long result = previous.test(request);
      if (result == Result.IN_PROGRESS) {
        return false;
      }
      if (result < 0) {
        throw patience.failed(previous, request, result, "flushing chunk " + receive);
      }
    }
    if (receive < schedule.reductions()) {
      memory.add(
          bytes(schedule.receiveOffset(receive)),
          slot(receive) * slotBytes,
          schedule.receiveCount(receive));
    }
    receivesDone++;
    return true;
  }

  private boolean takeSend() {
    if (sendsDone == sendsPosted) {
      next.progress();
      return false;
    }
    long request = sending[slot(sendsDone)];
    long result = next.test(request);
    if (result == Result.IN_PROGRESS) {
      return false;
    }
    if (result < 0) {
      throw patience.failed(next, request, result, "sending chunk " + sendsDone);
    }
    if (result != bytes(schedule.sendCount(sendsDone))) {
      throw new RankFailure(
          "chunk %d has %d bytes, %d were taken"
              .formatted(sendsDone, bytes(schedule.sendCount(sendsDone)), result));
    }
    sendsDone++;
    return true;
  }

  /**
   * Where a receive goes: to a slot of the landing area if it is to be added, or to its place in
   * the array if it is a sum.
   */
  private long offset(int receive) {
    return receive < schedule.reductions()
        ? slot(receive) * slotBytes
        : bytes(schedule.receiveOffset(receive));
  }

  private IncomingMemory into(int receive) {
    return receive < schedule.reductions() ? landings : incoming;
  }

  private int slot(int index) {
    return index % window;
  }

  private static long bytes(long elements) {
    return elements * JAVA_FLOAT.byteSize();
  }

  @Override
  public void close() {
    outgoing.close();
    incoming.close();
    landings.close();
  }
}

package org.jofi.cli.allreduce;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jofi.cli.ranks.Patience;
import org.jofi.cli.ranks.RankFailure;
import org.jofi.cli.ranks.RingLinks;
import org.jofi.transport.RecvComm;
import org.jofi.transport.Registration;
import org.jofi.transport.Result;
import org.jofi.transport.SendComm;

/**
 * Carries out a {@link RingSchedule} over two communicators: sums an array of float32 over all
 * ranks, in place. For one thread; allocates nothing while it runs. The array and the memory for
 * what is to be added stay registered as long as it is open.
 *
 * <p>Several requests are in flight each way. It posts what may be posted, takes the oldest that is
 * done, adds, and begins anew: while it adds, the NICs move the rest.
 */
public final class RingAllReduce implements AutoCloseable {
  private static final int TAG = 0;
  private static final long PAGE_BYTES = 4096;

  private final Patience patience;
  private final SendComm next;
  private final RecvComm previous;
  private final MemorySegment array;
  private final Registration outgoing;
  private final Registration incoming;
  private final Arena arena;
  private final MemorySegment landing;
  private final long slotBytes;
  private final Registration landings;
  private final int window;
  private final long[] sending;
  private final long[] receiving;

  // Of the schedule under way: so many are posted, and so many of them are done, in order.
  private int sendsPosted;
  private int sendsDone;
  private int receivesPosted;
  private int receivesDone;

  /**
   * Registers an array.
   *
   * @param links to the neighbours
   * @param array native memory, which outlives this
   * @param chunkElements the longest message of the schedules that will run
   * @param window most requests in flight each way, 1 or more
   */
  public RingAllReduce(RingLinks links, MemorySegment array, int chunkElements, int window) {
    this.patience = links.patience();
    this.next = links.toNext();
    this.previous = links.fromPrevious();
    this.array = array;
    this.window = window;
    this.sending = new long[window];
    this.receiving = new long[window];
    this.slotBytes = Math.ceilDiv(chunkElements * JAVA_FLOAT.byteSize(), PAGE_BYTES) * PAGE_BYTES;
    this.arena = Arena.ofConfined();
    this.landing = arena.allocate(window * slotBytes, PAGE_BYTES);
    this.outgoing = next.regMr(array);
    this.incoming = previous.regMr(array);
    this.landings = previous.regMr(landing);
  }

  /**
   * Runs a schedule. All ranks run theirs.
   *
   * @throws RankFailure if a request fails, or nothing happens for too long
   * @throws org.jofi.cli.ranks.BootstrapException if another rank is lost
   */
  public void run(RingSchedule schedule) {
    sendsPosted = 0;
    sendsDone = 0;
    receivesPosted = 0;
    receivesDone = 0;
    patience.progressed();
    while (receivesDone < schedule.receives() || sendsDone < schedule.sends()) {
      boolean worked = postReceives(schedule);
      worked |= postSends(schedule);
      worked |= takeReceive(schedule);
      worked |= takeSend(schedule);
      if (worked) {
        patience.progressed();
      } else {
        patience.idle("its neighbours in the ring");
      }
    }
  }

  private boolean postReceives(RingSchedule schedule) {
    boolean worked = false;
    while (receivesPosted < schedule.receives()
        && receivesPosted - receivesDone < window
        && schedule.receiveNeeds(receivesPosted) < sendsDone) {
      int receive = receivesPosted;
      long bytes = bytes(schedule.receiveCount(receive));
      long request =
          receive < schedule.reductions()
              ? previous.irecv(landing.address() + slot(receive) * slotBytes, bytes, TAG, landings)
              : previous.irecv(
                  array.address() + bytes(schedule.receiveOffset(receive)), bytes, TAG, incoming);
      if (request == Result.TRY_AGAIN) {
        break;
      }
      receiving[slot(receive)] = request;
      receivesPosted++;
      worked = true;
    }
    return worked;
  }

  private boolean postSends(RingSchedule schedule) {
    boolean worked = false;
    while (sendsPosted < schedule.sends()
        && sendsPosted - sendsDone < window
        && schedule.sendNeeds(sendsPosted) < receivesDone) {
      long request =
          next.isend(
              array.address() + bytes(schedule.sendOffset(sendsPosted)),
              bytes(schedule.sendCount(sendsPosted)),
              TAG,
              outgoing);
      if (request == Result.TRY_AGAIN) {
        break;
      }
      sending[slot(sendsPosted)] = request;
      sendsPosted++;
      worked = true;
    }
    return worked;
  }

  private boolean takeReceive(RingSchedule schedule) {
    if (receivesDone == receivesPosted) {
      previous.progress();
      return false;
    }
    int receive = receivesDone;
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
    if (receive < schedule.reductions()) {
      add(
          array.asSlice(bytes(schedule.receiveOffset(receive)), bytes(count)),
          landing.asSlice(slot(receive) * slotBytes, bytes(count)),
          count);
    }
    receivesDone++;
    return true;
  }

  private boolean takeSend(RingSchedule schedule) {
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

  private static void add(MemorySegment sum, MemorySegment summand, int count) {
    for (int i = 0; i < count; i++) {
      sum.setAtIndex(
          JAVA_FLOAT, i, sum.getAtIndex(JAVA_FLOAT, i) + summand.getAtIndex(JAVA_FLOAT, i));
    }
  }

  private int slot(int index) {
    return index % window;
  }

  private static long bytes(long elements) {
    return elements * JAVA_FLOAT.byteSize();
  }

  /**
   * Gives its registrations back.
   *
   * @throws IllegalStateException after a failure with requests in flight: NICs may still be at its
   *     memory, which therefore stays
   */
  @Override
  public void close() {
    next.deregMr(outgoing);
    previous.deregMr(incoming);
    previous.deregMr(landings);
    arena.close();
  }
}

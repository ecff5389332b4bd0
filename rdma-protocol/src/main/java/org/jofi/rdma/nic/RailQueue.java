package org.jofi.rdma.nic;

import java.util.Arrays;
import org.jofi.counters.written.CounterBlock;
import org.jofi.counters.written.CounterType;
import org.jofi.fabric.CompletionError;
import org.jofi.fabric.CompletionFlags;
import org.jofi.fabric.CompletionQueue;
import org.jofi.fabric.Domain;
import org.jofi.fabric.FabricInfo;
import org.jofi.mr.teardown.OwnershipGraph;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.jspecify.annotations.Nullable;

/**
 * The completion queue of a NIC, which all of an endpoint's rails over that NIC share: a poll is
 * one call into the provider, whatever the number of roles. Each rail has contexts of its own,
 * apart for what it posts and what it receives, so that neither can take all of the other's.
 */
public final class RailQueue implements CompletionQueue.Sink {
  private static final int BATCH = 64;
  private static final int ROLES = 2;

  /**
   * Below, a message is sooner there if whoever waits for it polls, and not another thread: half a
   * round trip through NCCL's plugin with 16 processors by 10 to 30 %, up to 4 KiB and a header.
   * NCCL sends arrays of 16 KiB in messages of 8 KiB, which gain by threads.
   */
  private static final int LONG_BYTES = 5 * 1024;

  /** More than any NIC has; a provider without a limit reports a size that means none. */
  private static final int MOST_OF_PROVIDER = 1 << 16;

  private final String label;
  private final CompletionQueue queue;
  private final ArrivalSink arrivals;
  private final CounterBlock counters;
  private final int slots;
  private final RailPort[] ports = new RailPort[ROLES];
  private final ContextTable[] tables = new ContextTable[2 * ROLES];
  private final byte[] tableOf;
  private int rails;
  private int used;
  private int contexts;
  private long longOperations;
  private @Nullable Failure broken;

  /**
   * Opens one.
   *
   * @param endpoint whose
   * @param entries its capacity, for completions of this side and arrivals
   * @param slots operations in flight per rail at most
   * @param counters of the rail
   */
  public RailQueue(
      String endpoint,
      Domain domain,
      int entries,
      int slots,
      ArrivalSink arrivals,
      CounterBlock counters) {
    this.counters = counters;
    this.slots = slots;
    this.arrivals = arrivals;
    label = "completion queue of %s on %s".formatted(endpoint, domain.info());
    int own = ownEntries(slots);
    tableOf = new byte[own];
    queue =
        domain.openCompletionQueue(entries - own + Math.max(own, ofProvider(domain.info())), own);
  }

  /**
   * What a NIC's endpoints can have posted, whoever posted it: a provider may post receives of its
   * own, as efa does, and all of them complete at once when a queue pair fails. In the queue of a
   * NIC that overran, nothing can be found any more. Software has no such queue.
   */
  private static int ofProvider(FabricInfo info) {
    long depth = (long) info.limits().transmitDepth() + info.limits().receiveDepth();
    return info.traits().software() ? 0 : (int) Math.min(ROLES * depth, MOST_OF_PROVIDER);
  }

  /** Completions of a queue's own rails that are not polled yet, at most. */
  public static int ownEntries(int slots) {
    return ROLES * (slots + ReceiveBuffers.COUNT);
  }

  public CompletionQueue queue() {
    return queue;
  }

  public ContextTable operations() {
    return table(slots);
  }

  public ContextTable receives() {
    return table(ReceiveBuffers.COUNT);
  }

  private ContextTable table(int size) {
    ContextTable table = new ContextTable(contexts, size);
    Arrays.fill(tableOf, contexts, contexts + size, (byte) used);
    contexts += size;
    tables[used++] = table;
    return table;
  }

  public void add(RailPort port) {
    ports[rails++] = port;
  }

  /** Delivers what finished; never throws. How much, or -1 once if the queue broke. */
  public int poll() {
    int polled = broken == null ? queue.poll(this, BATCH) : 0;
    for (int i = 0; i < rails; i++) {
      ports[i].polled();
    }
    if (polled >= 0) {
      return polled;
    }
    Failure why =
        new Failure(
            FailureCause.FABRIC,
            -polled,
            "fi_cq_read on " + label,
            "the completion queue broke, and its rails with it");
    broken = why;
    for (int i = 0; i < rails; i++) {
      ports[i].lose(why);
    }
    arrivals.broken(why);
    return -1;
  }

  public static boolean leavesSome(int polled) {
    return polled >= BATCH;
  }

  /** Whether an operation of that length, posted or over, is one for which a thread pays. */
  public static boolean isLong(long lengthBytes) {
    return lengthBytes >= LONG_BYTES;
  }

  /** Such an operation is about to be posted, or is over. */
  public void countLong() {
    longOperations++;
  }

  public long longOperations() {
    return longOperations;
  }

  @Override
  public void completed(int context, long flags, long lengthBytes, long data) {
    boolean immediate = CompletionFlags.bringsData(flags);
    // Of a peer's write not every provider tells the length, and short messages are no writes.
    if (immediate || isLong(lengthBytes)) {
      countLong();
    }
    if (immediate) {
      counters.add(CounterType.IMMEDIATES_ARRIVED, 1);
      arrivals.immediate(data);
    }
    // The arrival of a peer's write ends nothing here, whatever context it comes with: efa names an
    // operation that has ended long ago.
    if (context >= 0 && (!immediate || (flags & CompletionFlags.RECV) != 0)) {
      ContextTable table = tables[tableOf[context]];
      long cookie = table.cookie(context);
      OperationOwner owner = table.give(context);
      if (owner == null) {
        counters.add(CounterType.COMPLETIONS_ORPHANED, 1);
      } else {
        // A receive that immediate data used up holds no message.
        owner.completed(cookie, immediate ? 0 : lengthBytes);
      }
    }
  }

  @Override
  public void failed(CompletionError error) {
    int context = error.context();
    int index = context < 0 || context >= contexts ? -1 : tableOf[context];
    long cookie = index < 0 ? 0 : tables[index].cookie(context);
    OperationOwner owner = index < 0 ? null : tables[index].give(context);
    if (owner == null) {
      counters.add(CounterType.COMPLETIONS_ORPHANED, 1);
    } else {
      RailPort port = ports[index / 2];
      owner.failed(cookie, port, Failures.of(port, error));
    }
  }

  public @Nullable Failure brokenBy() {
    return broken;
  }

  /** Hands the queue to the graph that closes it, after its rails. */
  public void addTo(OwnershipGraph graph) {
    graph.own(queue, label);
  }
}

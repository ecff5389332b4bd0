package org.jofi.libfabric;

import static org.jofi.libfabric.bindings.LibfabricConstants.FI_CQ_FORMAT_DATA;
import static org.jofi.libfabric.bindings.LibfabricConstants.FI_WAIT_NONE;
import static org.jofi.libfabric.bindings.LibfabricConstants.FI_WRITE;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jofi.fabric.CompletionQueue;
import org.jofi.fabric.FabricErrno;
import org.jofi.libfabric.bindings.fi_cq_attr;
import org.jofi.libfabric.bindings.fi_cq_data_entry;
import org.jofi.libfabric.bindings.fi_ops_cq;
import org.jofi.libfabric.bindings.fi_ops_domain;
import org.jofi.libfabric.bindings.fid_cq;
import org.jofi.libfabric.bindings.fid_domain;
import org.jspecify.annotations.Nullable;

/** struct fid_cq, with the block of contexts for the operations whose completions it takes. */
final class LibfabricCompletionQueue extends FabricObject implements CompletionQueue {
  /** Binary logarithm of the size of a context: struct fi_context2. */
  private static final int CONTEXT_SHIFT = 6;

  /** 64 MiB of contexts; a request for more is a mistake. */
  private static final int MOST_CONTEXTS = 1 << 20;

  /** Completions that one call into libfabric fetches. */
  private static final int BATCH = 16;

  /** After so many polls the domain's events are looked at, so that they cost next to nothing. */
  private static final int POLLS_PER_EVENTS = 4096;

  private static final long WRITE = FI_WRITE();
  private static final long ENTRY_BYTES = fi_cq_data_entry.sizeof();
  private static final long OP_CONTEXT = fi_cq_data_entry.op_context$offset();
  private static final long FLAGS = fi_cq_data_entry.flags$offset();
  private static final long LENGTH = fi_cq_data_entry.len$offset();
  private static final long DATA = fi_cq_data_entry.data$offset();

  private final LibfabricDomain domain;
  private final RegionMapLock regionMapLock;
  private final boolean hasSilentWrites;
  private final int contexts;

  // The provider uses this memory as long as the queue is open; it is freed afterwards.
  private final Arena arena = Arena.ofShared();
  private final MemorySegment entries;
  private final long entriesAddress;
  private final long contextBase;
  private final QueueError error;

  // Set once, when the queue is open.
  private MemorySegment read = MemorySegment.NULL;
  private long queue;

  private final @Nullable LibfabricEventQueue events;
  private int polls;

  /** An endpoint's close goes on that would not let a call return. */
  private boolean unread;

  // Completions that are fetched but not delivered yet.
  private int next;
  private int fetched;

  private LibfabricCompletionQueue(LibfabricDomain domain, int contexts) {
    super("completion queue of " + domain.info());
    this.domain = domain;
    regionMapLock = domain.regionMapLock();
    hasSilentWrites = domain.splitsWriteData();
    events = domain.events();
    this.contexts = contexts;
    entries = arena.allocate(BATCH * ENTRY_BYTES, 64);
    entriesAddress = entries.address();
    contextBase = arena.allocate((long) contexts << CONTEXT_SHIFT, 64).address();
    error = new QueueError(this, arena);
  }

  static LibfabricCompletionQueue open(LibfabricDomain domain, int depth, int contexts) {
    if (depth < 1 || contexts < 1 || contexts > MOST_CONTEXTS) {
      throw new IllegalArgumentException(
          "a completion queue needs a depth, and 1 to %d contexts; got %d and %d"
              .formatted(MOST_CONTEXTS, depth, contexts));
    }
    MemorySegment fid = domain.fid();
    LibfabricCompletionQueue cq = new LibfabricCompletionQueue(domain, contexts);
    try (Arena scratch = Arena.ofConfined()) {
      cq.standOn(domain);
      MemorySegment attributes = NativeStruct.allocate(scratch, fi_cq_attr.sizeof());
      fi_cq_attr.size(attributes, depth);
      fi_cq_attr.format(attributes, FI_CQ_FORMAT_DATA());
      fi_cq_attr.wait_obj(attributes, FI_WAIT_NONE());
      MemorySegment function = fi_ops_domain.cq_open(fid_domain.ops(fid));
      cq.open(
          "fi_cq_open",
          result ->
              fi_ops_domain.cq_open.invoke(function, fid, attributes, result, MemorySegment.NULL));
      cq.read = MemorySegment.ofAddress(fi_ops_cq.read(fid_cq.ops(cq.nativeObject())).address());
      cq.queue = cq.nativeObject().address();
      return cq;
    } finally {
      if (cq.queue == 0) {
        cq.arena.close();
      }
    }
  }

  LibfabricDomain domain() {
    return domain;
  }

  @Override
  public int contexts() {
    return contexts;
  }

  /** The context pointer for a slot; 0 if there is no such slot. */
  long context(int slot) {
    return Integer.compareUnsigned(slot, contexts) < 0
        ? contextBase + ((long) slot << CONTEXT_SHIFT)
        : 0;
  }

  /**
   * Whether that completion or error is of the first half of a split write, which nobody is told
   * about: {@link PostingCalls}.
   */
  boolean isSilent(long context, long flags) {
    return hasSilentWrites && context == 0 && (flags & WRITE) != 0;
  }

  /** The slot of that context. */
  int slot(long context) {
    long slot = (context - contextBase) >> CONTEXT_SHIFT;
    return context >= contextBase && slot < contexts ? (int) slot : NO_CONTEXT;
  }

  @Override
  public int poll(Sink sink, int limit) {
    if (queue == 0) {
      throw closedException();
    }
    if (limit < 1) {
      throw new IllegalArgumentException("poll at least 1 completion, not " + limit);
    }
    if (events != null && (++polls & POLLS_PER_EVENTS - 1) == 0) {
      events.drain();
    }
    int delivered = 0;
    while (delivered < limit) {
      if (next == fetched) {
        int wanted = Math.min(BATCH, limit - delivered);
        long result = read(wanted);
        if (result == -FabricErrno.EAVAIL) {
          int errors = error.fetch();
          if (errors <= 0) {
            return delivered > 0 ? delivered : errors;
          }
          delivered++;
          sink.failed(error);
          continue;
        }
        if (result <= 0) {
          return delivered > 0 || result == -FabricErrno.EAGAIN ? delivered : (int) result;
        }
        next = 0;
        fetched = (int) result;
      }
      delivered += deliver(sink, limit - delivered);
      if (fetched < BATCH) {
        return delivered;
      }
    }
    return delivered;
  }

  /**
   * Whether an endpoint's close goes on, with the lock that reading this queue takes; polls return
   * {@code -ETIMEDOUT} until it has ended.
   */
  void leaveUnread(boolean whileClosing) {
    unread = whileClosing;
  }

  private long read(int wanted) {
    if (unread) {
      return -FabricErrno.ETIMEDOUT;
    }
    regionMapLock.enter();
    try {
      return Downcalls.call(read, queue, entriesAddress, wanted);
    } finally {
      regionMapLock.leave();
    }
  }

  /** Lets the provider work, and takes nothing out: the same calls handle what sockets say. */
  void progress() {
    if (queue != 0) {
      read(0);
    }
  }

  /**
   * Delivers what was fetched. An entry counts as delivered before the sink is called, since the
   * sink may throw.
   */
  private int deliver(Sink sink, int limit) {
    int delivered = 0;
    while (next < fetched && delivered < limit) {
      long entry = next * ENTRY_BYTES;
      next++;
      long context = entries.get(ValueLayout.JAVA_LONG, entry + OP_CONTEXT);
      long flags = entries.get(ValueLayout.JAVA_LONG, entry + FLAGS);
      if (!isSilent(context, flags)) {
        delivered++;
        sink.completed(
            slot(context),
            flags,
            entries.get(ValueLayout.JAVA_LONG, entry + LENGTH),
            entries.get(ValueLayout.JAVA_LONG, entry + DATA));
      }
    }
    return delivered;
  }

  @Override
  void closedForGood() {
    queue = 0;
    arena.close();
  }

  @Override
  public void close() {
    closeObject("cq");
  }
}

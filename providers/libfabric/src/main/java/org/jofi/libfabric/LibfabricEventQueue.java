package org.jofi.libfabric;

import static org.jofi.libfabric.bindings.LibfabricConstants.FI_WAIT_NONE;

import java.lang.System.Logger.Level;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;
import org.jofi.fabric.FabricErrno;
import org.jofi.libfabric.bindings.fi_eq_attr;
import org.jofi.libfabric.bindings.fi_eq_err_entry;
import org.jofi.libfabric.bindings.fi_ops_eq;
import org.jofi.libfabric.bindings.fi_ops_fabric;
import org.jofi.libfabric.bindings.fid_eq;
import org.jofi.libfabric.bindings.fid_fabric;
import org.jofi.transport.diagnostics.Log;

/**
 * struct fid_eq, where a provider tells of errors that belong to no operation of this side. The efa
 * provider ends the process where an endpoint has none, if a peer names a region that is not open.
 *
 * <p>What it tells is logged: each kind of error when it first comes, and how often it came when
 * the queue closes, so that a peer cannot fill the log.
 *
 * <p>Any thread. Opened and closed with the domain.
 */
final class LibfabricEventQueue extends FabricObject {
  private static final Log LOG = new Log(Log.Name.PROVIDER);

  private static final int DEPTH = 64;

  private final Arena arena = Arena.ofShared();
  private final MemorySegment entry = NativeStruct.allocate(arena, fi_eq_err_entry.sizeof());
  private final Map<Kind, Integer> counts = new HashMap<>();

  /** Errors of a kind are logged once. */
  private record Kind(int errno, int providerErrno) {}

  // Set once, when the queue is open.
  private MemorySegment readError = MemorySegment.NULL;
  private long queue;

  private LibfabricEventQueue(LibfabricDomain domain) {
    super("event queue of " + domain.info());
  }

  /**
   * Opens it.
   *
   * @param fabric the domain's, which stays open longer
   */
  static LibfabricEventQueue open(LibfabricDomain domain, MemorySegment fabric) {
    LibfabricEventQueue events = new LibfabricEventQueue(domain);
    try (Arena scratch = Arena.ofConfined()) {
      MemorySegment attributes = NativeStruct.allocate(scratch, fi_eq_attr.sizeof());
      fi_eq_attr.size(attributes, DEPTH);
      fi_eq_attr.wait_obj(attributes, FI_WAIT_NONE());
      MemorySegment function = fi_ops_fabric.eq_open(fid_fabric.ops(fabric));
      events.open(
          "fi_eq_open",
          result ->
              fi_ops_fabric.eq_open.invoke(
                  function, fabric, attributes, result, MemorySegment.NULL));
      MemorySegment open = events.nativeObject();
      events.readError = MemorySegment.ofAddress(fi_ops_eq.readerr(fid_eq.ops(open)).address());
      events.queue = open.address();
      return events;
    } finally {
      if (events.queue == 0) {
        events.arena.close();
      }
    }
  }

  /** Takes what is in it. Costs one call, and allocates nothing, while it is empty. */
  synchronized void drain() {
    if (queue == 0) {
      return;
    }
    while (Downcalls.call(readError, queue, entry.address(), 0) > 0) {
      int errno = Math.abs(fi_eq_err_entry.err(entry));
      int providerErrno = fi_eq_err_entry.prov_errno(entry);
      if (counts.merge(new Kind(errno, providerErrno), 1, Integer::sum) == 1) {
        LOG.log(Level.WARNING, text(errno, providerErrno));
      }
      entry.fill((byte) 0);
    }
  }

  private String text(int errno, int providerErrno) {
    return "%s: %s (%s), provider's error %d; it belongs to no operation that was posted here"
        .formatted(place(), FabricErrno.meaning(errno), FabricErrno.name(errno), providerErrno);
  }

  @Override
  synchronized int nativeClose() {
    drain();
    return super.nativeClose();
  }

  @Override
  synchronized void closedForGood() {
    queue = 0;
    arena.close();
    counts.forEach(
        (kind, count) -> {
          if (count > 1) {
            LOG.log(
                Level.WARNING,
                "%s (%d times)".formatted(text(kind.errno(), kind.providerErrno()), count));
          }
        });
  }

  void close() {
    closeObject("eq");
  }
}

package org.jofi.libfabric;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jofi.fabric.CompletionError;
import org.jofi.fabric.CompletionFlags;
import org.jofi.fabric.CompletionQueue;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.jofi.libfabric.bindings.fi_cq_err_entry;
import org.jofi.libfabric.bindings.fi_ops_cq;
import org.jofi.libfabric.bindings.fid_cq;

/** The one error entry of a completion queue: fi_cq_readerr(3). */
final class QueueError implements CompletionError {
  private final LibfabricCompletionQueue queue;
  private final MemorySegment entry;
  private final boolean efa;

  private int context;
  private long flags;
  private long lengthBytes;
  private long overflowBytes;
  private long data;
  private int errno;
  private int providerErrno;

  QueueError(LibfabricCompletionQueue queue, Arena arena) {
    this.queue = queue;
    efa = LibfabricTraits.isEfa(queue.domain().info().provider());
    entry = NativeStruct.allocate(arena, fi_cq_err_entry.sizeof());
  }

  /**
   * Reads and decodes the next error of the queue.
   *
   * @return 1 if there was one, 0 if there is none, else the negative error of the broken queue
   */
  int fetch() {
    MemorySegment fid = queue.nativeObject();
    long op;
    do {
      // Zeroed each time: err_data_size is an input, and libraries differ in how much they write.
      entry.fill((byte) 0);
      long count = fi_ops_cq.readerr.invoke(fi_ops_cq.readerr(fid_cq.ops(fid)), fid, entry, 0);
      if (count != 1) {
        return count == 0 || count == -FabricErrno.EAGAIN ? 0 : (int) count;
      }
      op = fi_cq_err_entry.op_context(entry).address();
      flags = fi_cq_err_entry.flags(entry);
    } while (queue.isSilent(op, flags));
    context = queue.slot(op);
    lengthBytes = fi_cq_err_entry.len(entry);
    overflowBytes = fi_cq_err_entry.olen(entry);
    data = fi_cq_err_entry.data(entry);
    // Some report a negative number (shm of 1.17). Zero would look like success.
    int err = Math.abs(fi_cq_err_entry.err(entry));
    providerErrno = fi_cq_err_entry.prov_errno(entry);
    int known = err == 0 ? FabricErrno.EOTHER : err;
    errno = efa ? EfaStatus.errno(known, providerErrno) : known;
    return 1;
  }

  @Override
  public int context() {
    return context;
  }

  @Override
  public long flags() {
    return flags;
  }

  @Override
  public long lengthBytes() {
    return lengthBytes;
  }

  @Override
  public long overflowBytes() {
    return overflowBytes;
  }

  @Override
  public long data() {
    return data;
  }

  @Override
  public int errno() {
    return errno;
  }

  @Override
  public int providerErrno() {
    return providerErrno;
  }

  @Override
  public String providerText() {
    queue.requireOpen();
    MemorySegment fid = queue.nativeObject();
    return LibC.text(
        fi_ops_cq.strerror.invoke(
            fi_ops_cq.strerror(fid_cq.ops(fid)),
            fid,
            providerErrno,
            fi_cq_err_entry.err_data(entry),
            MemorySegment.NULL,
            0));
  }

  @Override
  public FabricException toException() {
    return new FabricException(
        CompletionFlags.operation(flags),
        errno,
        "%s (%d)".formatted(providerText(), providerErrno),
        "%s of %s%s"
            .formatted(
                queue.place(),
                queue.carried(),
                context == CompletionQueue.NO_CONTEXT ? "" : ", context " + context));
  }
}

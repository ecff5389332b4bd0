package org.jofi.abidouble;

import static org.jofi.libfabric.bindings.LibfabricConstants.FI_CLASS_CQ;
import static org.jofi.libfabric.bindings.LibfabricConstants.FI_CQ_FORMAT_CONTEXT;
import static org.jofi.libfabric.bindings.LibfabricConstants.FI_CQ_FORMAT_DATA;
import static org.jofi.libfabric.bindings.LibfabricConstants.FI_CQ_FORMAT_MSG;
import static org.jofi.libfabric.bindings.LibfabricConstants.FI_CQ_FORMAT_TAGGED;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jofi.fabric.FabricErrno;
import org.jofi.libfabric.bindings.fi_cq_data_entry;
import org.jofi.libfabric.bindings.fi_cq_entry;
import org.jofi.libfabric.bindings.fi_cq_err_entry;
import org.jofi.libfabric.bindings.fi_cq_msg_entry;
import org.jofi.libfabric.bindings.fi_cq_tagged_entry;
import org.jofi.libfabric.bindings.fi_ops_cq;
import org.jofi.libfabric.bindings.fid_cq;

/** struct fid_cq. Sees which operations have completed. */
final class QueueFid extends Fid {
  /** An operation that came back, and the flags of its completion. */
  private record Bounced(MemorySegment context, long flags) {}

  private final DomainFid domain;
  private final long entryBytes;
  private final Deque<Bounced> bounced = new ArrayDeque<>();

  QueueFid(DomainFid domain, int format, MemorySegment real, MemorySegment context) {
    super(
        domain.ledger,
        "completion queue",
        FI_CLASS_CQ(),
        domain.premises().tables().object,
        context);
    this.domain = domain;
    entryBytes = bytes(format);
    real(real);
    fid_cq.ops(own(), domain.premises().tables().queue);
    note("fi_cq_open in " + domain);
    ledger.add(this);
    domain.carries(this);
  }

  private static long bytes(int format) {
    if (format == FI_CQ_FORMAT_CONTEXT()) {
      return fi_cq_entry.sizeof();
    }
    if (format == FI_CQ_FORMAT_MSG()) {
      return fi_cq_msg_entry.sizeof();
    }
    if (format == FI_CQ_FORMAT_DATA()) {
      return fi_cq_data_entry.sizeof();
    }
    if (format == FI_CQ_FORMAT_TAGGED()) {
      return fi_cq_tagged_entry.sizeof();
    }
    throw new IllegalArgumentException("completion queue format " + format);
  }

  DomainFid domain() {
    return domain;
  }

  /** An operation found no region at its target: it completes with FI_EIO, as a CXI says it. */
  void bounce(MemorySegment context, long flags) {
    synchronized (ledger) {
      bounced.add(new Bounced(context, flags));
    }
  }

  /** fi_cq_read. The context comes first in every format. */
  long read(MemorySegment entries, long count) {
    long completed = fi_ops_cq.read.invoke(fi_ops_cq.read(table()), real(), entries, count);
    for (long i = 0; i < completed; i++) {
      ended(entries.address() + i * entryBytes);
    }
    synchronized (ledger) {
      return completed == -FabricErrno.EAGAIN && !bounced.isEmpty()
          ? -FabricErrno.EAVAIL
          : completed;
    }
  }

  /** fi_cq_readerr. */
  long readError(MemorySegment entry, long flags) {
    Bounced next;
    synchronized (ledger) {
      next = bounced.poll();
    }
    long count = 1;
    if (next == null) {
      count = fi_ops_cq.readerr.invoke(fi_ops_cq.readerr(table()), real(), entry, flags);
    } else {
      MemorySegment struct = Pointers.struct(entry);
      fi_cq_err_entry.op_context(struct, next.context);
      fi_cq_err_entry.flags(struct, next.flags);
      fi_cq_err_entry.err(struct, FabricErrno.EIO);
      fi_cq_err_entry.prov_errno(struct, FabricErrno.EIO);
    }
    if (count == 1) {
      ended(entry.address() + fi_cq_err_entry.op_context$offset());
    }
    return count;
  }

  private void ended(long at) {
    long context = Pointers.memory(at, Long.BYTES).get(ValueLayout.JAVA_LONG, 0);
    domain.premises().inFlight().end(context);
  }

  /** fi_cq_strerror; the address of the text. */
  long describe(int error, MemorySegment data, MemorySegment text, long lengthBytes) {
    return fi_ops_cq
        .strerror
        .invoke(fi_ops_cq.strerror(table()), real(), error, data, text, lengthBytes)
        .address();
  }

  private MemorySegment table() {
    return Pointers.struct(fid_cq.ops(real()));
  }

  @Override
  void afterClose() {
    domain.carriesNoMore(this);
  }
}

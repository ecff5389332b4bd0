package org.jofi.abidouble;

import static org.jofi.libfabric.bindings.LibfabricConstants.FI_CLASS_AV;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashMap;
import java.util.Map;
import org.jofi.libfabric.bindings.fi_ops_av;
import org.jofi.libfabric.bindings.fid_av;
import org.jspecify.annotations.Nullable;

/** struct fid_av. Remembers which address each peer has. */
final class VectorFid extends Fid {
  private final DomainFid domain;
  private final Map<Long, String> peers = new HashMap<>();

  VectorFid(DomainFid domain, MemorySegment real, MemorySegment context) {
    super(
        domain.ledger, "address vector", FI_CLASS_AV(), domain.premises().tables().object, context);
    this.domain = domain;
    real(real);
    fid_av.ops(own(), domain.premises().tables().vector);
    note("fi_av_open in " + domain);
    ledger.add(this);
    domain.carries(this);
  }

  DomainFid domain() {
    return domain;
  }

  /** fi_av_insert. */
  int insert(
      MemorySegment addresses,
      long count,
      MemorySegment numbers,
      long flags,
      MemorySegment context) {
    if (count != 1 || flags != 0) {
      throw ledger.refusal(
          Rule.UNEXPECTED_CALL,
          "fi_av_insert",
          "%d addresses, flags 0x%x".formatted(count, flags),
          this);
    }
    int inserted =
        fi_ops_av.insert.invoke(
            fi_ops_av.insert(table()), real(), addresses, count, numbers, flags, context);
    if (inserted == 1) {
      synchronized (ledger) {
        peers.put(number(numbers), SocketName.read(addresses));
      }
    }
    return inserted;
  }

  /** fi_av_remove. */
  int remove(MemorySegment numbers, long count, long flags) {
    synchronized (ledger) {
      if (count != 1 || flags != 0 || !peers.containsKey(number(numbers))) {
        throw ledger.refusal(
            Rule.MESSAGE, "fi_av_remove", "%d peers, not inserted".formatted(count), this);
      }
    }
    int code = fi_ops_av.remove.invoke(fi_ops_av.remove(table()), real(), numbers, count, flags);
    if (code == 0) {
      synchronized (ledger) {
        peers.remove(number(numbers));
      }
    }
    return code;
  }

  /** Where that peer is; null if it was not inserted. */
  @Nullable String peer(long number) {
    return peers.get(number);
  }

  private static long number(MemorySegment numbers) {
    return Pointers.memory(numbers.address(), Long.BYTES).get(ValueLayout.JAVA_LONG, 0);
  }

  private MemorySegment table() {
    return Pointers.struct(fid_av.ops(real()));
  }

  @Override
  void afterClose() {
    domain.carriesNoMore(this);
  }
}

package org.jofi.abidouble;

import static org.jofi.libfabric.bindings.LibfabricConstants.FI_CLASS_EP;
import static org.jofi.libfabric.bindings.LibfabricConstants.FI_ENABLE;
import static org.jofi.libfabric.bindings.LibfabricConstants.FI_RECV;
import static org.jofi.libfabric.bindings.LibfabricConstants.FI_TRANSMIT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jofi.fabric.FabricErrno;
import org.jofi.libfabric.bindings.fi_ops;
import org.jofi.libfabric.bindings.fi_ops_cm;
import org.jofi.libfabric.bindings.fi_ops_ep;
import org.jofi.libfabric.bindings.fid;
import org.jofi.libfabric.bindings.fid_ep;
import org.jspecify.annotations.Nullable;

/** struct fid_ep. */
final class EndpointFid extends Fid {
  private static final int MOST_NAME_BYTES = 128;

  private final DomainFid domain;
  private final DataCalls data;
  private final Set<RegionFid> regions = new LinkedHashSet<>();
  private final List<QueueFid> queues = new ArrayList<>();
  private @Nullable VectorFid vector;
  private @Nullable QueueFid transmitQueue;
  private long directions;
  private boolean enabled;
  private int record;

  EndpointFid(DomainFid domain, MemorySegment real, MemorySegment context) {
    super(domain.ledger, "endpoint", FI_CLASS_EP(), domain.premises().tables().object, context);
    this.domain = domain;
    data = new DataCalls(this, domain.premises());
    real(real);
    Tables tables = domain.premises().tables();
    fid_ep.ops(own(), tables.endpoint);
    fid_ep.cm(own(), tables.connection);
    fid_ep.msg(own(), tables.messagesTooEarly);
    fid_ep.rma(own(), tables.oneSidedTooEarly);
    fid_ep.tagged(own(), tables.unused);
    fid_ep.atomic(own(), tables.unused);
    fid_ep.collective(own(), tables.unused);
    note("fi_endpoint in " + domain);
    ledger.add(this);
    domain.carries(this);
  }

  DomainFid domain() {
    return domain;
  }

  DataCalls data() {
    return data;
  }

  boolean isEnabled() {
    return enabled;
  }

  /** On the board. */
  int record() {
    return record;
  }

  @Nullable VectorFid vector() {
    return vector;
  }

  /** Where its sends, writes and reads complete; it has one when it is enabled. */
  QueueFid transmitQueue() {
    return Objects.requireNonNull(transmitQueue);
  }

  void bound(RegionFid region) {
    regions.add(region);
  }

  void unbound(RegionFid region) {
    regions.remove(region);
  }

  @Override
  int bind(MemorySegment other, long flags) {
    String call = "fi_ep_bind(" + this + ")";
    Fid object;
    synchronized (ledger) {
      object = ledger.find(other, Fid.class, call);
      note("fi_ep_bind to %s, flags 0x%x".formatted(object, flags));
      if (enabled) {
        throw ledger.refusal(Rule.ENDPOINT_ORDER, call, "is enabled, binds " + object, this);
      }
      if (!mayBind(object, flags)) {
        throw ledger.refusal(
            Rule.BIND_ARGUMENTS, call, "to %s, flags 0x%x".formatted(object, flags), this);
      }
    }
    int code = fi_ops.bind.invoke(fi_ops.bind(fid.ops(real())), real(), object.real(), flags);
    if (code == 0) {
      synchronized (ledger) {
        object.carries(this);
        if (object instanceof VectorFid bound) {
          vector = bound;
        } else if (object instanceof QueueFid bound) {
          queues.add(bound);
          directions |= flags;
          transmitQueue = (flags & FI_TRANSMIT()) != 0 ? bound : transmitQueue;
        }
      }
    }
    return code;
  }

  private boolean mayBind(Fid object, long flags) {
    return switch (object) {
      case VectorFid other -> vector == null && other.domain() == domain && flags == 0;
      case QueueFid other ->
          other.domain() == domain
              && flags != 0
              && (flags & ~(FI_TRANSMIT() | FI_RECV())) == 0
              && (flags & directions) == 0;
      default -> false;
    };
  }

  @Override
  int enable() {
    synchronized (ledger) {
      if (vector == null || directions != (FI_TRANSMIT() | FI_RECV()) || enabled) {
        throw ledger.refusal(
            Rule.ENDPOINT_ORDER,
            "fi_enable(" + this + ")",
            "enabled %s, bound to %s and %s".formatted(enabled, vector, queues),
            this);
      }
    }
    int code =
        fi_ops.control.invoke(
            fi_ops.control(fid.ops(real())), real(), FI_ENABLE(), MemorySegment.NULL);
    note("fi_enable: " + code);
    if (code == 0) {
      String name = realName();
      synchronized (ledger) {
        enabled = true;
        record = domain.premises().board().addEndpoint(name);
        note("is at " + name);
        Tables tables = domain.premises().tables();
        fid_ep.msg(own(), tables.messages);
        fid_ep.rma(own(), tables.oneSided);
      }
    }
    return code;
  }

  private String realName() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment name = arena.allocate(MOST_NAME_BYTES, Long.BYTES);
      MemorySegment length = arena.allocateFrom(ValueLayout.JAVA_LONG, MOST_NAME_BYTES);
      int code = name(name, length);
      if (code != 0) {
        throw new IllegalStateException("fi_getname: " + code);
      }
      return SocketName.read(name);
    }
  }

  /** fi_getname. */
  int name(MemorySegment address, MemorySegment lengthBytes) {
    return fi_ops_cm.getname.invoke(
        fi_ops_cm.getname(Pointers.struct(fid_ep.cm(real()))), real(), address, lengthBytes);
  }

  /** fi_cancel. */
  long cancel(MemorySegment context) {
    return fi_ops_ep.cancel.invoke(fi_ops_ep.cancel(table()), real(), context);
  }

  /** fi_getopt. */
  int option(int level, int option, MemorySegment value, MemorySegment lengthBytes) {
    return fi_ops_ep.getopt.invoke(
        fi_ops_ep.getopt(table()), real(), level, option, value, lengthBytes);
  }

  /** fi_setopt. */
  int setOption(int level, int option, MemorySegment value, long lengthBytes) {
    return fi_ops_ep.setopt.invoke(
        fi_ops_ep.setopt(table()), real(), level, option, value, lengthBytes);
  }

  private MemorySegment table() {
    return Pointers.struct(fid_ep.ops(real()));
  }

  @Override
  void beforeClose(String call) {
    if (!regions.isEmpty()) {
      throw ledger.refusal(
          Rule.REGION_OUTLIVES_ENDPOINT,
          call,
          "open and bound to it: " + regions,
          this,
          FabricErrno.EBUSY);
    }
  }

  @Override
  void afterClose() {
    if (record != Board.NONE) {
      domain.premises().board().state(record, Board.ENDPOINT_CLOSED);
    }
    domain.premises().inFlight().forget(this);
    if (vector != null) {
      vector.carriesNoMore(this);
    }
    queues.forEach(queue -> queue.carriesNoMore(this));
    domain.carriesNoMore(this);
  }
}

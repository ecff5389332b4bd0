package org.jofi.libfabric;

import static org.jofi.libfabric.bindings.LibfabricConstants.FI_ENABLE;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jofi.fabric.FabricErrno;
import org.jofi.libfabric.bindings.fi_ops;
import org.jofi.libfabric.bindings.fi_ops_mr;
import org.jofi.libfabric.bindings.fid;
import org.jofi.libfabric.bindings.fid_domain;
import org.jofi.libfabric.bindings.fid_mr;

/**
 * Stands between a domain and its provider's registration calls, with C function pointers that lead
 * back here. Regions have no key until they were bound and enabled, as fi_mr(3) has it for
 * FI_MR_ENDPOINT; a wrong order is refused with EINVAL as fi_cxi(7) does.
 */
final class EndpointScopedCalls {
  static final long KEY = 0x1234_5678_9abcL;

  private final Arena arena = Arena.ofShared();
  private final MemorySegment domain;
  private final MemorySegment realTable;
  private final List<String> made = new ArrayList<>();
  private final Map<String, Integer> refusals = new HashMap<>();
  private final Map<Long, MemorySegment> realObjectTables = new HashMap<>();
  private final Map<Long, String> states = new HashMap<>();
  private final MemorySegment objectTable;

  EndpointScopedCalls(LibfabricDomain owner) {
    domain = owner.fid();
    realTable = fid_domain.mr(domain);
    MemorySegment table = arena.allocate(fi_ops_mr.layout());
    MemorySegment.copy(InfoReader.struct(realTable), 0, table, 0, fi_ops_mr.layout().byteSize());
    fi_ops_mr.regattr(table, fi_ops_mr.regattr.allocate(this::regattr, arena));
    fid_domain.mr(domain, table);
    objectTable = arena.allocate(fi_ops.layout());
    fi_ops.size(objectTable, fi_ops.layout().byteSize());
    fi_ops.close(objectTable, fi_ops.close.allocate(this::close, arena));
    fi_ops.bind(objectTable, fi_ops.bind.allocate(this::bind, arena));
    fi_ops.control(objectTable, fi_ops.control.allocate(this::control, arena));
  }

  /** The next such call is refused. */
  void refuse(String call, int errno) {
    refusals.put(call, errno);
  }

  List<String> made() {
    return List.copyOf(made);
  }

  void uninstall() {
    fid_domain.mr(domain, realTable);
    arena.close();
  }

  private int regattr(
      MemorySegment object, MemorySegment attributes, long flags, MemorySegment result) {
    made.add("regattr");
    int code =
        fi_ops_mr.regattr.invoke(
            fi_ops_mr.regattr(InfoReader.struct(realTable)), object, attributes, flags, result);
    if (code == 0) {
      MemorySegment mr = InfoReader.struct(InfoReader.struct(result).get(ValueLayout.ADDRESS, 0));
      realObjectTables.put(mr.address(), fid.ops(mr));
      fid.ops(mr, objectTable);
      fid_mr.key(mr, -1);
      states.put(mr.address(), "registered");
    }
    return code;
  }

  private int bind(MemorySegment mr, MemorySegment endpoint, long flags) {
    made.add("bind ep 0x%x".formatted(endpoint.address()));
    return step(mr, "bind", "registered", "bound", flags == 0);
  }

  private int control(MemorySegment mr, int command, MemorySegment argument) {
    made.add("enable");
    int code =
        step(mr, "enable", "bound", "enabled", command == FI_ENABLE() && argument.address() == 0);
    if (code == 0) {
      fid_mr.key(InfoReader.struct(mr), KEY);
    }
    return code;
  }

  private int step(MemorySegment mr, String call, String from, String to, boolean wellFormed) {
    Integer refusal = refusals.remove(call);
    if (refusal != null) {
      return -refusal;
    }
    return wellFormed && states.replace(mr.address(), from, to) ? 0 : -FabricErrno.EINVAL;
  }

  private int close(MemorySegment mr) {
    made.add("close");
    MemorySegment real = InfoReader.struct(mr);
    fid.ops(real, realObjectTables.remove(mr.address()));
    states.remove(mr.address());
    return FabricObject.nativeClose(real);
  }
}

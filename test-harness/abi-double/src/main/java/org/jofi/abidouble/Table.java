package org.jofi.abidouble;

import java.lang.foreign.Arena;
import java.lang.foreign.GroupLayout;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jofi.libfabric.bindings.fi_ops_ep;

/**
 * A struct fi_ops_* in which every function is there: those that are not set refuse, and are
 * recorded. Tables live as long as the process, as whoever has a pointer may use it until then.
 */
final class Table {
  /** Functions of tables that the bindings have no layout of. */
  private static final int UNKNOWN_SLOTS = 32;

  private Table() {}

  /** All of its functions refuse for the reason that is given. */
  static MemorySegment refusing(Upcalls upcalls, GroupLayout layout, Rule reason) {
    MemorySegment table = allocate(layout.byteSize());
    long at = 0;
    for (MemoryLayout member : layout.memberLayouts()) {
      String function = member.name().orElse("padding");
      if (member instanceof java.lang.foreign.AddressLayout) {
        set(upcalls, table, at, layout.name().orElse("fi_ops") + "." + function, reason);
      }
      at += member.byteSize();
    }
    return table;
  }

  /** One of functions that nobody should call, under that name. */
  static MemorySegment unknown(Upcalls upcalls, String name) {
    MemorySegment table = allocate((1L + UNKNOWN_SLOTS) * Long.BYTES);
    for (int slot = 1; slot <= UNKNOWN_SLOTS; slot++) {
      set(upcalls, table, (long) slot * Long.BYTES, name + "." + slot, Rule.UNEXPECTED_CALL);
    }
    return table;
  }

  private static MemorySegment allocate(long bytes) {
    MemorySegment table = Arena.global().allocate(bytes, Long.BYTES);
    table.set(ValueLayout.JAVA_LONG, 0, bytes);
    return table;
  }

  /**
   * A function of one pointer answers in place of any: in C's calling conventions the caller cleans
   * up what else it passed. A long answers for an int, too.
   */
  private static void set(Upcalls upcalls, MemorySegment table, long at, String call, Rule reason) {
    table.set(
        ValueLayout.ADDRESS,
        at,
        fi_ops_ep.rx_size_left.allocate(
            self -> upcalls.refused(reason, call, self), Arena.global()));
  }
}

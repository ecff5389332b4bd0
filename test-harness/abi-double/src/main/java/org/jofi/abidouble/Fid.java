package org.jofi.abidouble;

import static org.jofi.libfabric.bindings.LibfabricConstants.FI_ENABLE;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import org.jofi.fabric.FabricErrno;
import org.jofi.libfabric.bindings.fi_ops;
import org.jofi.libfabric.bindings.fid;

/**
 * An object as the caller of the double sees it: a struct of its own, and the real object behind
 * it. Its memory is never freed, so that a late call through it ends in a record and not in a
 * crash. State is guarded by the {@link Ledger}'s monitor.
 */
abstract class Fid {
  /** More than any struct fid_*. */
  private static final long BYTES = 256;

  private static final int HISTORY = 64;

  final Ledger ledger;
  private final String name;
  private final MemorySegment own;
  private final Deque<String> history = new ArrayDeque<>();
  private final Set<String> users = new TreeSet<>();
  private MemorySegment real = MemorySegment.NULL;
  private boolean closed;

  Fid(Ledger ledger, String kind, int fclass, MemorySegment objectTable, MemorySegment context) {
    this.ledger = ledger;
    name = kind + " #" + ledger.next();
    own = Arena.global().allocate(BYTES, 64);
    fid.fclass(own, fclass);
    fid.context(own, context);
    fid.ops(own, objectTable);
  }

  /** The struct that the caller has. */
  final MemorySegment own() {
    return own;
  }

  final long address() {
    return own.address();
  }

  /** The real object. */
  final MemorySegment real() {
    return real;
  }

  final void real(MemorySegment object) {
    real = Pointers.struct(object);
  }

  final boolean isClosed() {
    return closed;
  }

  /** A call that opens a real object, and writes its address. */
  interface Opening {
    int into(MemorySegment result);
  }

  /** Opens a real object, and gives the caller one of the double's in its place. */
  static int open(MemorySegment result, Opening opening, Function<MemorySegment, Fid> inItsPlace) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment object = arena.allocate(ValueLayout.ADDRESS);
      int code = opening.into(object);
      if (code == 0) {
        Pointers.write(result, inItsPlace.apply(Pointers.read(object)).own());
      }
      return code;
    }
  }

  /** Notes what happened to it. */
  final void note(String event) {
    synchronized (ledger) {
      if (history.size() == HISTORY) {
        history.removeFirst();
      }
      history.add("[%s] %s".formatted(Thread.currentThread().getName(), event));
      ledger.trace(name, event);
    }
  }

  final List<String> history() {
    synchronized (ledger) {
      return List.copyOf(history);
    }
  }

  /** Something stands on it now. */
  final void carries(Fid user) {
    synchronized (ledger) {
      users.add(user.toString());
    }
  }

  final void carriesNoMore(Fid user) {
    synchronized (ledger) {
      users.remove(user.toString());
    }
  }

  /** fi_close. */
  final int close() {
    String call = "fi_close(" + this + ")";
    synchronized (ledger) {
      beforeClose(call);
      if (!users.isEmpty()) {
        throw ledger.refusal(
            Rule.CLOSE_ORDER, call, "it carries " + users, this, FabricErrno.EBUSY);
      }
    }
    int code = Pointers.isNull(real) ? 0 : fi_ops.close.invoke(fi_ops.close(fid.ops(real)), real);
    note("fi_close: " + code);
    if (code == 0) {
      synchronized (ledger) {
        closed = true;
        afterClose();
      }
    }
    return code;
  }

  /** Refuses if it may not close. */
  void beforeClose(String call) {}

  /** It closed. */
  abstract void afterClose();

  /** fi_*_bind. */
  int bind(MemorySegment other, long flags) {
    throw ledger.refusal(
        Rule.UNEXPECTED_CALL, "bind", this + " binds nothing", this, FabricErrno.ENOSYS);
  }

  /** fi_control. */
  final int control(int command, MemorySegment argument) {
    if (command != FI_ENABLE() || !Pointers.isNull(argument)) {
      throw ledger.refusal(
          Rule.CONTROL_COMMAND,
          "fi_control(" + this + ")",
          "command %d, argument 0x%x".formatted(command, argument.address()),
          this);
    }
    return enable();
  }

  /** fi_enable and fi_mr_enable. */
  int enable() {
    throw ledger.refusal(
        Rule.UNEXPECTED_CALL, "enable", this + " has nothing to enable", this, FabricErrno.ENOSYS);
  }

  @Override
  public final String toString() {
    return name;
  }
}

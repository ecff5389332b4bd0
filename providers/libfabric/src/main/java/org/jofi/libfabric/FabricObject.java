package org.jofi.libfabric;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.jofi.libfabric.bindings.fi_ops;
import org.jofi.libfabric.bindings.fid;

/**
 * A libfabric object and what it stands on. It closes once, and not before everything that stands
 * on it: libfabric's providers differ in whether they refuse that, leak, or crash.
 *
 * <p>Any thread. An object's lock is taken before those of what it stands on.
 */
abstract class FabricObject {
  private final String place;
  private final List<FabricObject> standsOn = new ArrayList<>();
  private final Set<FabricObject> users = Collections.newSetFromMap(new IdentityHashMap<>());
  private MemorySegment object = MemorySegment.NULL;
  private volatile boolean closed;

  /**
   * @param place what errors call it, with all that it is in
   */
  FabricObject(String place) {
    this.place = place;
  }

  /** Takes hold of what this will stand on; that cannot close any more. */
  final synchronized void standOn(FabricObject base) {
    base.admit(this);
    standsOn.add(base);
  }

  /** A call that opens a native object and writes its address. */
  interface Opening {
    int into(MemorySegment result);
  }

  /**
   * Opens the native object. If that fails, this lets go of what it was to stand on.
   *
   * @param operation the call, as the man page names it
   */
  final void open(String operation, Opening opening) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment result = arena.allocate(ValueLayout.ADDRESS);
      int code = opening.into(result);
      if (code != 0) {
        throw new FabricException(operation, -code, "", place);
      }
      opened(InfoReader.struct(result.get(ValueLayout.ADDRESS, 0)));
    } finally {
      synchronized (this) {
        if (object.address() == 0) {
          closed = true;
          letGo();
        }
      }
    }
  }

  /** The native object was opened: it is to be closed from now on. */
  final synchronized void opened(MemorySegment object) {
    this.object = object;
  }

  /** The native object. */
  final synchronized MemorySegment nativeObject() {
    return object;
  }

  final String place() {
    return place;
  }

  @Override
  public String toString() {
    return place;
  }

  /** What stands on it now, as errors name it; empty if nothing does. */
  final synchronized String carried() {
    return String.join(", ", users.stream().map(FabricObject::toString).sorted().toList());
  }

  /** Lets go of something again that it turned out not to stand on. */
  final synchronized void stopStandingOn(FabricObject base) {
    if (standsOn.remove(base)) {
      base.release(this);
    }
  }

  /**
   * Opening failed half way: closes what is open, and adds to the failure what went wrong there.
   */
  final void abandon(RuntimeException failure) {
    try {
      synchronized (this) {
        if (object.address() == 0) {
          closed = true;
          letGo();
        }
      }
      closeObject("abandoned");
    } catch (FabricException more) {
      failure.addSuppressed(more);
    }
  }

  /**
   * @throws IllegalStateException if it is closed
   */
  final void requireOpen() {
    if (closed) {
      throw closedException();
    }
  }

  final IllegalStateException closedException() {
    return new IllegalStateException(place + " is closed");
  }

  /** After the native object went: memory that it used may go. */
  void closedForGood() {}

  /** Closes it; again is a no-op. Refused while anything stands on it. */
  final synchronized void closeObject(String kind) {
    if (closed) {
      return;
    }
    if (!users.isEmpty()) {
      throw new FabricException(
          "fi_close(" + kind + ")",
          FabricErrno.EBUSY,
          "",
          "%s, which carries %s".formatted(place, carried()));
    }
    int result = nativeClose();
    if (result != 0) {
      throw new FabricException("fi_close(" + kind + ")", -result, "", place);
    }
    closed = true;
    closedForGood();
    letGo();
  }

  /** fi_close(3). */
  int nativeClose() {
    MemorySegment open = nativeObject();
    return fi_ops.close.invoke(fi_ops.close(fid.ops(open)), open);
  }

  private synchronized void admit(FabricObject user) {
    if (closed) {
      throw closedException();
    }
    users.add(user);
  }

  private synchronized void release(FabricObject user) {
    users.remove(user);
  }

  private void letGo() {
    for (int i = standsOn.size() - 1; i >= 0; i--) {
      standsOn.get(i).release(this);
    }
    standsOn.clear();
  }
}

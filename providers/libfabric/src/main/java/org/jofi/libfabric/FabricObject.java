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
 * A libfabric object, and the objects that it depends on. It closes once, and not before all
 * objects that depend on it: if it did, some providers of libfabric would refuse, some would leak,
 * and some would crash.
 *
 * <p>Any thread. The lock of an object is taken before the locks of the objects that it depends on.
 */
abstract class FabricObject {
  private final String place;
  private final List<FabricObject> standsOn = new ArrayList<>();
  private final Set<FabricObject> users = Collections.newSetFromMap(new IdentityHashMap<>());
  private MemorySegment object = MemorySegment.NULL;
  private volatile boolean closed;

  /**
   * @param place its name in error messages, with the names of its parents
   */
  FabricObject(String place) {
    this.place = place;
  }

  /** Makes this object depend on another one, which then cannot close until this one has closed. */
  final synchronized void standOn(FabricObject base) {
    base.admit(this);
    standsOn.add(base);
  }

  /** A call that opens a native object and writes its address. */
  interface Opening {
    int into(MemorySegment result);
  }

  /**
   * Opens the native object. If that fails, this object depends on nothing any more.
   *
   * @param operation the man-page name of the call
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

  /** Records that the native object is open, so that it has to be closed. */
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

  /** The objects that depend on this one, for error messages; empty if there are none. */
  final synchronized String carried() {
    return String.join(", ", users.stream().map(FabricObject::toString).sorted().toList());
  }

  /** Removes a dependency that turned out not to exist. */
  final synchronized void stopStandingOn(FabricObject base) {
    if (standsOn.remove(base)) {
      base.release(this);
    }
  }

  /**
   * Cleans up after opening failed half way: closes what is open, and adds further failures to the
   * given one.
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

  /** Called after the native object is closed: memory that it used can be freed. */
  void closedForGood() {}

  /** Closes it; a second call does nothing. Refused while other objects depend on it. */
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
    try {
      closedForGood();
    } finally {
      letGo();
    }
  }

  /** fi_close(3). */
  int nativeClose() {
    return close(nativeObject());
  }

  /** fi_close(3) of a native object, on a thread that need not have the lock of this one. */
  static int close(MemorySegment open) {
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

package org.jofi.libfabric;

import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntSupplier;
import org.jofi.fabric.FabricInfo;
import org.jspecify.annotations.Nullable;

/**
 * Stands in for the lock that libfabric's own provider over TCP sockets lacks around a domain's map
 * of regions: {@code net} up to libfabric 1.17, and {@code tcp} of 1.18, which it became.
 *
 * <p>Registering inserts into that map (xnet_mr_regattr), closing a region removes from it
 * (ofi_mr_close), and whatever reads from a connection looks up the keys that peers name
 * (ofi_mr_verify). The first takes a lock that has no effect in a domain of reliable datagrams
 * (progress.lock, of type OFI_LOCK_NONE there), the second one that never has (the domain's), and
 * the third yet another (progress.rdm_lock). So two threads can turn the red-black tree at once:
 * sound keys are not found, connections that name them are shut, and a lookup may never end. 1.18.2
 * takes the third lock for all of it. fi_version(3) does not tell 1.18.2 from 1.18.0, so all of
 * 1.18 is covered. Layered under ofi_rxm, the provider registers and closes inside of posts and
 * polls as well.
 *
 * <p>No choice of threading level replaces this: the types of those locks do not depend on it.
 *
 * <p>It is held for the length of one native call, and nothing else is taken meanwhile but
 * libfabric's own locks: whoever waits for it waits for one registration, post or poll, as those
 * wait that use a later version. Elsewhere it is {@link #NONE}, which costs a comparison.
 */
final class RegionMapLock {
  /** Of a domain whose provider guards its map. */
  static final RegionMapLock NONE = new RegionMapLock(null);

  private final @Nullable ReentrantLock lock;

  private RegionMapLock(@Nullable ReentrantLock lock) {
    this.lock = lock;
  }

  /** The lock of a new domain. */
  static RegionMapLock of(FabricInfo info) {
    return LibfabricTraits.leavesRegionMapUnguarded(
            info.provider(), LibfabricLibrary.load().version())
        ? new RegionMapLock(new ReentrantLock())
        : NONE;
  }

  /** Makes a call that may touch the map, off the data path. */
  int during(IntSupplier call) {
    enter();
    try {
      return call.getAsInt();
    } finally {
      leave();
    }
  }

  /** Before a call that may touch the map. */
  void enter() {
    if (lock != null) {
      lock.lock();
    }
  }

  /** After it. */
  void leave() {
    if (lock != null) {
      lock.unlock();
    }
  }
}

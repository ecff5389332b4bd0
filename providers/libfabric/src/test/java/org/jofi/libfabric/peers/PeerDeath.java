package org.jofi.libfabric.peers;

import java.lang.foreign.MemorySegment;
import org.jofi.fabric.Access;
import org.jofi.fabric.AddressVector;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.MemoryRegion;
import org.jofi.fabric.PostFlags;
import org.jspecify.annotations.Nullable;

/**
 * The survivor keeps 16 operations in flight. Within ten seconds of the death it must have an error
 * for one of them, or for every post that it tries, and be able to close.
 */
final class PeerDeath {
  private static final int WINDOW = 16;
  private static final int CHUNK = 65_536;
  private static final long PATIENCE_NANOS = 5_000_000_000L;

  /** For {@link #WARM} operations: many times what they take, as others may load the machine. */
  private static final long WARM_NANOS = 20_000_000_000L;

  private static final long DRAIN_NANOS = 3_000_000_000L;

  /** Operations done before the other side may die: connections stand, transfers are under way. */
  private static final int WARM = 200;

  private final Peer peer;
  private final MemorySegment memory;
  private final MemoryRegion region;
  private @Nullable String firstError;
  private boolean refused;
  private int done;

  PeerDeath(Peer peer) {
    this.peer = peer;
    memory = peer.allocate((long) WINDOW * CHUNK);
    region = peer.register(memory, Access.ALL);
  }

  void run() {
    Peer.Remote remote = peer.exchange(region);
    if (!peer.first) {
      for (int i = 0; i < WINDOW; i++) {
        receive(i);
      }
      peer.lines.send("posted");
      peer.await("the end", () -> false);
    }
    receive(Peer.CONTEXTS - 1);
    peer.line();
    boolean[] inFlight = new boolean[WINDOW];
    boolean asked = false;
    boolean stalled = false;
    long deadline = Long.MAX_VALUE;
    long started = System.nanoTime();
    while (firstError == null && !refused && System.nanoTime() < deadline) {
      for (int slot = 0; slot < WINDOW; slot++) {
        if (inFlight[slot]) {
          inFlight[slot] = !finished(slot);
        } else {
          inFlight[slot] = post(slot, remote);
        }
      }
      finished(Peer.CONTEXTS - 1);
      peer.poll();
      Thread.yield();
      if (!asked && (done >= WARM || System.nanoTime() - started > WARM_NANOS)) {
        asked = true;
        stalled = done < WARM;
        System.out.println(TwoProcesses.KILL_OTHER);
        System.out.flush();
        deadline = System.nanoTime() + PATIENCE_NANOS;
      }
    }
    System.out.printf(
        "survivor: %d operations done, %s, first error %s%n",
        done,
        stalled ? "stalled before the death" : "under way at the death",
        refused ? "on posting" : firstError);
    if (firstError == null && !refused) {
      throw new Lack(
          stalled
              ? "transfers stall while the peer lives, and then its death is not reported"
              : "a peer's death is not reported");
    }
    int left = drain(inFlight);
    if (left > 0) {
      throw new Lack("operations in flight to a dead peer never end");
    }
  }

  /** Waits for the rest, with a bound: how many never ended. */
  private int drain(boolean[] inFlight) {
    long deadline = System.nanoTime() + DRAIN_NANOS;
    int left;
    do {
      peer.poll();
      left = 0;
      for (int slot = 0; slot < WINDOW; slot++) {
        inFlight[slot] = inFlight[slot] && !finished(slot);
        left += inFlight[slot] ? 1 : 0;
      }
      Thread.yield();
    } while (left > 0 && System.nanoTime() < deadline);
    System.out.printf("survivor: %d of %d operations never ended%n", left, WINDOW);
    return left;
  }

  /** Reads and writes that complete at the target; both notice a peer that is gone. */
  private boolean post(int slot, Peer.Remote remote) {
    long address = memory.address() + (long) slot * CHUNK;
    long remoteAddress = remote.address() + (long) slot * CHUNK;
    int code =
        slot % 2 == 0
            ? peer.endpoint.read(
                address, CHUNK, region.descriptor(), peer.other, remoteAddress, remote.key(), slot)
            : peer.endpoint.write(
                address,
                CHUNK,
                region.descriptor(),
                peer.other,
                remoteAddress,
                remote.key(),
                slot,
                PostFlags.DELIVERY_COMPLETE);
    if (code != 0 && code != -FabricErrno.EAGAIN) {
      refused = true;
    }
    return code == 0;
  }

  private boolean finished(int context) {
    Completions.Completion completion = peer.completions.take(context);
    if (completion == null) {
      return false;
    }
    if (completion.failure() != null) {
      firstError = completion.failure().getMessage();
    } else {
      done++;
    }
    return true;
  }

  private void receive(int context) {
    peer.post(
        "recv",
        () ->
            peer.endpoint.recv(
                memory.address(), CHUNK, region.descriptor(), AddressVector.ANY, context));
  }
}

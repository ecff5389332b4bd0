package org.jofi.simulated.engine;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jofi.simulated.memory.ProcessMemory;
import org.jofi.simulated.memory.Staging;

/** The pool of a network's transfers, those in use and free ones. Used under the network's lock. */
final class Transfers {
  private final List<Transfer> all = new ArrayList<>();
  private final ArrayDeque<Transfer> free = new ArrayDeque<>();
  private final Staging staging;
  private long posted;

  Transfers(Staging staging) {
    this.staging = staging;
  }

  /** Takes a transfer from the pool, to be filled in. */
  Transfer take() {
    Transfer transfer;
    if (free.isEmpty()) {
      transfer = new Transfer();
      all.add(transfer);
    } else {
      transfer = free.removeLast();
    }
    transfer.live = true;
    transfer.serial = ++posted;
    return transfer;
  }

  /** Copies the source, as the NIC does when it starts the transfer. */
  void stage(Transfer transfer, long from, long bytes) {
    transfer.staged = staging.take(bytes);
    transfer.stagedBytes = bytes;
    ProcessMemory.copy(from, transfer.staged, bytes);
  }

  /** Returns a transfer to the pool. Nothing may be scheduled for it any more. */
  void give(Transfer transfer) {
    if (transfer.staged != 0) {
      staging.give(transfer.staged, transfer.stagedBytes);
    }
    transfer.clear();
    free.addLast(transfer);
  }

  /** Calls {@code action} for each transfer in use. */
  void forEachLive(Consumer<Transfer> action) {
    for (int i = 0; i < all.size(); i++) {
      Transfer transfer = all.get(i);
      if (transfer.live) {
        action.accept(transfer);
      }
    }
  }

  /** How many operations were posted so far. */
  long posted() {
    return posted;
  }
}

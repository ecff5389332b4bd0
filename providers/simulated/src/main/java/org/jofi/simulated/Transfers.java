package org.jofi.simulated;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** The transfers of a network, live and free. Used under the network's lock. */
final class Transfers {
  private final List<Transfer> all = new ArrayList<>();
  private final ArrayDeque<Transfer> free = new ArrayDeque<>();
  private final Staging staging;
  private long posted;

  Transfers(Staging staging) {
    this.staging = staging;
  }

  /** A transfer to fill in; it is live. */
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

  /** Copies the source, as the NIC does when it takes the transfer up. */
  void stage(Transfer transfer, long from, long bytes) {
    transfer.staged = staging.take(bytes);
    transfer.stagedBytes = bytes;
    ProcessMemory.copy(from, transfer.staged, bytes);
  }

  /** Takes a transfer back for which nothing is scheduled. */
  void give(Transfer transfer) {
    if (transfer.staged != 0) {
      staging.give(transfer.staged, transfer.stagedBytes);
    }
    transfer.clear();
    free.addLast(transfer);
  }

  /** Gives each live transfer to {@code action}. */
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

package org.jofi.simulated.network;

import java.util.concurrent.atomic.AtomicReference;
import org.jofi.simulated.contract.Rule;
import org.jspecify.annotations.Nullable;

/** Detects that two threads use a queue and its endpoints at the same time. For real time. */
public final class GroupGuard {
  private final Network network;
  private final Lifecycle life;
  private final boolean armed;
  private final AtomicReference<@Nullable Thread> inside = new AtomicReference<>();
  private int depth;

  public GroupGuard(Network network, Lifecycle life) {
    this.network = network;
    this.life = life;
    this.armed = !network.clock().isVirtual() && network.contracts().throwing();
  }

  public void enter(String call) {
    if (!armed) {
      return;
    }
    Thread current = Thread.currentThread();
    Thread other = inside.compareAndExchange(null, current);
    if (other != null && !other.equals(current)) {
      network.enter();
      try {
        String detail = "%s is inside while %s calls".formatted(other, current);
        throw network
            .contracts()
            .misuse(
                Rule.ONE_THREAD, call, life.history(), detail, new IllegalStateException(detail));
      } finally {
        network.exit();
      }
    }
    depth++;
  }

  public void exit() {
    if (armed && --depth == 0) {
      inside.set(null);
    }
  }
}

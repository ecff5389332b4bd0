package org.jofi.simulated.spi;

import java.util.ArrayList;
import java.util.List;
import org.jofi.fabric.CompletionQueue;
import org.jofi.fabric.FabricErrno;
import org.jofi.simulated.completion.SimulatedCompletion;
import org.jofi.simulated.contract.Rule;
import org.jofi.simulated.engine.CompletionStore;
import org.jofi.simulated.engine.Engine;
import org.jofi.simulated.engine.QueuePair;
import org.jofi.simulated.network.GroupGuard;
import org.jofi.simulated.network.Lifecycle;
import org.jofi.simulated.network.Network;
import org.jofi.simulated.registration.ProtectionDomain;

/** A completion queue, as programs poll it. */
final class SimulatedCompletionQueue implements CompletionQueue {
  /** What a poll costs in virtual time. */
  private static final long POLL_NANOS = 20;

  private final ProtectionDomain domain;
  private final Network network;
  private final Engine engine;
  private final Lifecycle life;
  private final int contexts;
  private final CompletionStore completions;
  private final SimulatedCompletion taken;
  private final List<QueuePair> endpoints = new ArrayList<>();
  private final GroupGuard guard;
  private boolean polling;

  SimulatedCompletionQueue(ProtectionDomain domain, Engine engine, int depth, int contexts) {
    this.domain = domain;
    this.network = domain.network();
    this.engine = engine;
    this.contexts = contexts;
    this.life = new Lifecycle(network, domain.life().label() + " completion queue");
    this.completions = new CompletionStore(network, life, depth, contexts);
    this.taken = new SimulatedCompletion(life.label());
    this.guard = new GroupGuard(network, life);
    domain.life().addUser(life);
  }

  ProtectionDomain domain() {
    return domain;
  }

  Lifecycle life() {
    return life;
  }

  /** Its completions. */
  CompletionStore completions() {
    return completions;
  }

  GroupGuard guard() {
    return guard;
  }

  @Override
  public int contexts() {
    return contexts;
  }

  @Override
  public int poll(Sink sink, int limit) {
    guard.enter("fi_cq_read");
    try {
      requirePollable(limit);
      return progressAndDeliver(sink, limit);
    } finally {
      guard.exit();
    }
  }

  private int progressAndDeliver(Sink sink, int limit) {
    polling = true;
    try {
      boolean virtual = network.clock().isVirtual();
      if (virtual) {
        network.pollBudget().spend();
        network.clock().spend(POLL_NANOS);
      }
      engine.progress();
      if (!virtual) {
        // In virtual time, the simulation throws them.
        network.contracts().throwDiscovered();
      }
      if (completions.needsAttention()) {
        engine.attend(completions, endpoints);
      }
      return completions.isOverrun() ? -FabricErrno.EOVERRUN : deliver(sink, limit);
    } finally {
      polling = false;
    }
  }

  private void requirePollable(int limit) {
    if (limit < 1) {
      throw new IllegalArgumentException("poll at least 1 completion, not " + limit);
    }
    if (!life.isOpen()) {
      network.enter();
      try {
        life.requireOpen("fi_cq_read");
      } finally {
        network.exit();
      }
    }
    if (polling) {
      String detail = life.label() + " is being polled";
      throw network
          .contracts()
          .misuse(
              Rule.POLL_REENTRANT,
              "fi_cq_read",
              life.history(),
              detail,
              new IllegalStateException(detail));
    }
  }

  private int deliver(Sink sink, int limit) {
    int delivered = 0;
    while (delivered < limit && completions.take(taken)) {
      delivered++;
      if (taken.errno() == 0) {
        sink.completed(taken.context(), taken.flags(), taken.lengthBytes(), taken.data());
      } else {
        sink.failed(taken);
      }
    }
    return delivered;
  }

  // The methods below are called under the network's lock.

  void bind(QueuePair endpoint) {
    if (!endpoints.contains(endpoint)) {
      endpoints.add(endpoint);
      life.addUser(endpoint.life());
    }
  }

  void unbind(QueuePair endpoint) {
    if (endpoints.remove(endpoint)) {
      life.removeUser(endpoint.life());
    }
    engine.dropWaiting(completions, endpoint);
  }

  @Override
  public void close() {
    guard.enter("fi_close");
    network.enter();
    try {
      if (!life.isOpen()) {
        return;
      }
      life.requireUnused(Rule.CLOSE_ORDER, "fi_close");
      domain.life().removeUser(life);
      life.close();
    } finally {
      network.exit();
      guard.exit();
    }
  }
}

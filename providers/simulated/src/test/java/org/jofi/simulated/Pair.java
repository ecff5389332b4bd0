package org.jofi.simulated;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.UnaryOperator;
import org.jofi.simulated.profile.Profile;

/** Two hosts with an open NIC each, on virtual time: what most tests need. */
final class Pair implements AutoCloseable {
  final Simulation simulation;
  final Arena memory = Arena.ofConfined();
  final Node left;
  final Node right;

  Pair(Profile profile) {
    this(profile, builder -> builder);
  }

  Pair(Profile profile, UnaryOperator<Simulation.Builder> setting) {
    simulation = setting.apply(Simulation.of(profile)).open();
    left = new Node(simulation.host(0).provider(), 0, 64);
    right = new Node(simulation.host(1).provider(), 0, 64);
    left.know(right);
    right.know(left);
  }

  /** Zeroed memory, 64-byte aligned. */
  MemorySegment memory(long bytes) {
    return memory.allocate(bytes, 64);
  }

  /** Polls both sides and lets time pass until nothing is under way. */
  void settle() {
    int polled;
    do {
      polled = left.poll() + right.poll();
      simulation.settle();
      polled += left.poll() + right.poll();
    } while (polled > 0 || !simulation.isQuiet());
  }

  @Override
  public void close() {
    simulation.close();
    memory.close();
  }
}

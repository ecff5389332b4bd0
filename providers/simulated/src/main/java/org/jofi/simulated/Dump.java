package org.jofi.simulated;

import java.util.List;
import org.jofi.simulated.engine.Engine;
import org.jofi.simulated.network.Network;
import org.jofi.simulated.network.Nic;

/** A text that lists everything that is pending in a network. */
final class Dump {
  private final Engine engine;
  private final String setting;

  Dump(Engine engine, String setting) {
    this.engine = engine;
    this.setting = setting;
  }

  /** The dump, with its reason as the first line. */
  String of(String reason, List<Participant> participants) {
    Network network = engine.network();
    StringBuilder text = new StringBuilder(4096);
    text.append(reason)
        .append(" at ")
        .append(network.clock().nanoTime())
        .append(" ns (")
        .append(setting)
        .append(")\nParticipants that are not done:\n");
    for (Participant participant : participants) {
      text.append("  ").append(participant.name()).append(": ").append(participant.pending());
      text.append('\n');
    }
    engine.describe(text);
    text.append("NICs and hosts that are not well:\n");
    for (Nic nic : network.nics()) {
      if (nic.isDead() || nic.stalledUntil() > network.clock().nanoTime()) {
        text.append("  ").append(nic).append(nic.isDead() ? " is dead" : " is stalled until ");
        text.append(nic.isDead() ? "" : nic.stalledUntil() + " ns").append('\n');
      }
    }
    text.append("Faults: ").append(network.faults().counts()).append("\nTrace, hash ");
    text.append(Long.toHexString(network.trace().hash())).append(", the last lines:\n");
    network.trace().describe(text);
    return text.toString();
  }
}

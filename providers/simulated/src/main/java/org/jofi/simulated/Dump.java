package org.jofi.simulated;

import java.util.List;

/** A text that lists everything that is pending in a network. */
final class Dump {
  private final Network network;
  private final String setting;

  Dump(Network network, String setting) {
    this.network = network;
    this.setting = setting;
  }

  /** The dump, with its reason as the first line. */
  String of(String reason, List<Participant> participants) {
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
    text.append("Operations in flight:\n");
    network.transfers().forEachLive(transfer -> operation(text, transfer));
    text.append("Endpoints and queues:\n");
    network.forEachEndpoint(endpoint -> endpoint(text, endpoint));
    text.append("NICs and hosts that are not well:\n");
    for (SimulatedNic nic : network.nics()) {
      if (nic.isDead() || nic.stalledUntil > network.clock().nanoTime()) {
        text.append("  ").append(nic).append(nic.isDead() ? " is dead" : " is stalled until ");
        text.append(nic.isDead() ? "" : nic.stalledUntil + " ns").append('\n');
      }
    }
    text.append("Faults: ").append(network.faults().counts()).append("\nTrace, hash ");
    text.append(Long.toHexString(network.trace().hash())).append(", the last lines:\n");
    network.trace().describe(text);
    return text.toString();
  }

  private static void operation(StringBuilder text, Transfer transfer) {
    SimulatedEndpoint target = transfer.target;
    text.append("  ")
        .append(transfer.kind.call)
        .append(" of ")
        .append(transfer.length)
        .append(" B, slot ")
        .append(transfer.context)
        .append(", posted at ")
        .append(transfer.postedAt)
        .append(" ns by ")
        .append(transfer.initiator().life())
        .append(target == null ? "" : " to " + target.life())
        .append(", last stage ")
        .append(transfer.stage)
        .append(transfer.completed ? ", completed" : "")
        .append(transfer.errno == 0 ? "" : ", errno " + transfer.errno)
        .append('\n');
  }

  private static void endpoint(StringBuilder text, SimulatedEndpoint endpoint) {
    text.append("  ")
        .append(endpoint.life())
        .append(": ")
        .append(endpoint.inFlight())
        .append(" operations, ")
        .append(endpoint.receives().posted().size())
        .append(" receives posted, ")
        .append(endpoint.receives().unexpected().size())
        .append(" unexpected messages, ")
        .append(endpoint.inbox().size())
        .append(" wait for a poll\n");
    endpoint.transmitQueue().describe(text);
    if (endpoint.receiveQueue() != endpoint.transmitQueue()) {
      endpoint.receiveQueue().describe(text);
    }
  }
}

package org.jofi.rdma.connect;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.jofi.mr.LocalRegistration;
import org.jofi.rdma.endpoint.Host;
import org.jofi.rdma.message.Connection;
import org.jofi.rdma.message.Receiver;
import org.jofi.rdma.message.Sender;
import org.jofi.rdma.schedule.StripeScheduler;
import org.jofi.rdma.wire.Features;
import org.jofi.rdma.wire.MailboxLayout;
import org.jofi.rdma.wire.MailboxTarget;
import org.jofi.simulated.Profile;
import org.jofi.simulated.Simulation;

/** A simulated host that makes connections. */
final class Node implements SideFactory, AutoCloseable {
  static final long BOUND_NS = 2_000_000_000L;

  final Host host;
  final EndpointConnections connections;
  private final StripeScheduler scheduler;

  Node(Simulation simulation, Profile profile, int index, int rails) {
    SplittableRandom random = new SplittableRandom(simulation.seed() * 31 + index);
    connections =
        new EndpointConnections(
            new ConnectionSettings(
                Features.WRITE_THEN_SEND
                    | (profile.behaviour().writeData() ? Features.WRITE_DATA : 0),
                1 << 20,
                BOUND_NS,
                BOUND_NS,
                simulation::nanoTime,
                random::nextLong));
    host = new Host(simulation, index, rails, rails);
    host.sink = connections;
    connections.attach(host.endpoint, this);
    int[] weights = new int[rails];
    Arrays.fill(weights, 1);
    scheduler = new StripeScheduler(weights, 512);
  }

  @Override
  public Sender sender(
      Connection connection, MemorySegment mailbox, long features, long maxMessageBytes) {
    return new Sender(
        connection,
        mailbox,
        scheduler,
        (features & Features.WRITE_DATA) != 0,
        maxMessageBytes,
        Sender.usualSends());
  }

  @Override
  public Receiver receiver(
      Connection connection,
      MemorySegment copy,
      LocalRegistration registration,
      List<MailboxTarget> targets,
      long maxMessageBytes) {
    return new Receiver(
        connection, copy, registration, targets, maxMessageBytes, 2 * MailboxLayout.SLOTS);
  }

  @Override
  public void close() {
    host.close();
  }
}

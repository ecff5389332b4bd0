package org.jofi.rdma.driver;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.jofi.fabric.Domain;
import org.jofi.mr.teardown.OwnershipGraph;
import org.jofi.rdma.nic.ArrivalSink;
import org.jofi.rdma.nic.RailPort;
import org.jofi.rdma.nic.RailQueue;
import org.jofi.rdma.wire.FabricAddress;
import org.jofi.rdma.wire.RailAddresses;
import org.jofi.transport.Failure;
import org.jspecify.annotations.Nullable;

/** The rails of an endpoint: a data rail per NIC, control rails, and the queue of each NIC. */
public final class Rails {
  final List<RailPort> data = new ArrayList<>();
  final List<RailPort> control = new ArrayList<>();
  private final List<RailPort> all = new ArrayList<>();
  private final List<RailQueue> queues = new ArrayList<>();
  private boolean drained = true;

  private final long identity;

  /** Opens them. If a provider refuses something, nothing stays open. */
  Rails(String label, List<Domain> domains, EndpointSettings settings, ArrivalSink arrivals) {
    identity = settings.identity();
    try {
      for (int i = 0; i < domains.size(); i++) {
        Domain domain = domains.get(i);
        queues.add(
            new RailQueue(
                label,
                domain,
                settings.queueEntries(),
                settings.slots(),
                arrivals,
                settings.counters().rails().get(i)));
        data.add(open(label, i, "data", domain, settings));
        if (i < settings.controlRails()) {
          control.add(open(label, i, "control", domain, settings));
        }
      }
    } catch (RuntimeException e) {
      close(e);
      throw e;
    }
  }

  private RailPort open(
      String label, int number, String role, Domain domain, EndpointSettings settings) {
    RailPort port =
        new RailPort(
            number,
            "%s %s rail %d".formatted(label, role, number),
            domain,
            queues.get(number),
            settings.clock(),
            settings.counters().rails().get(number),
            role.equals("data"));
    all.add(port);
    return port;
  }

  void close(RuntimeException cause) {
    OwnershipGraph graph = new OwnershipGraph();
    addTo(graph);
    try {
      graph.close(true);
    } catch (RuntimeException e) {
      cause.addSuppressed(e);
    }
  }

  void addTo(OwnershipGraph graph) {
    queues.forEach(queue -> queue.addTo(graph));
    all.forEach(port -> port.addTo(graph));
  }

  RailAddresses addresses() {
    return new RailAddresses(
        identity, addresses(control), addresses(data), data.stream().map(RailPort::epoch).toList());
  }

  private static List<FabricAddress> addresses(List<RailPort> rails) {
    return rails.stream().map(RailPort::address).toList();
  }

  int poll() {
    int events = 0;
    drained = true;
    for (int i = 0; i < queues.size(); i++) {
      RailQueue queue = queues.get(i);
      int polled = queue.poll();
      drained &= !RailQueue.leavesSome(polled);
      events += Math.max(0, polled);
    }
    return events;
  }

  void drain(int rail) {
    int polled = 1;
    while (polled > 0) {
      polled = queues.get(rail).poll();
    }
  }

  public long longOperations() {
    long all = 0;
    for (int i = 0; i < queues.size(); i++) {
      all += queues.get(i).longOperations();
    }
    return all;
  }

  /** The address vectors closed, and forget nothing any more. */
  void closeAddresses() {
    all.forEach(port -> port.peers().close());
  }

  /** Whether the last poll left nothing in a queue. */
  public boolean isDrained() {
    return drained;
  }

  /** Why the completion queue of a rail broke; null if all work. */
  public @Nullable Failure brokenBy() {
    for (int i = 0; i < queues.size(); i++) {
      Failure why = queues.get(i).brokenBy();
      if (why != null) {
        return why;
      }
    }
    return null;
  }

  /** Operations that fail from now on are not posted again. */
  void drain() {
    all.forEach(RailPort::drain);
  }

  void cancelAll() {
    all.forEach(RailPort::cancelAll);
  }

  int inFlight() {
    return all.stream().mapToInt(RailPort::inFlight).sum();
  }

  String describe() {
    return all.stream()
        .filter(port -> port.inFlight() > 0)
        .map(port -> "%d on %s".formatted(port.inFlight(), port.label))
        .collect(Collectors.joining(", "));
  }
}

package org.jofi.abidouble;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntSupplier;
import org.agrona.concurrent.SystemNanoClock;
import org.agrona.concurrent.YieldingIdleStrategy;
import org.jofi.fabric.AddressVector;
import org.jofi.fabric.CompletionError;
import org.jofi.fabric.CompletionQueue;
import org.jofi.fabric.Domain;
import org.jofi.fabric.Endpoint;
import org.jofi.fabric.EndpointRequest;
import org.jofi.fabric.FabricErrno;
import org.jofi.mr.EndpointRegistrations;
import org.jofi.mr.scope.EndpointRails;
import org.jofi.mr.scope.Rail;
import org.jofi.mr.teardown.InFlightOperations;
import org.jofi.mr.teardown.OwnershipGraph;
import org.jofi.mr.teardown.Teardown;

/** A multi-rail endpoint without a protocol: rails of both roles, each with a queue of its own. */
final class Rails implements EndpointRails, InFlightOperations, CompletionQueue.Sink {
  private static final int SLOTS = 64;
  private static final long BOUND_NS = 20_000_000_000L;

  private final String label;
  private final List<Rail> data = new ArrayList<>();
  private final List<Rail> control = new ArrayList<>();
  private final List<CompletionQueue> queues = new ArrayList<>();
  private final List<AddressVector> vectors = new ArrayList<>();
  private final Teardown teardown;
  final EndpointRegistrations registrations;
  private int slot;
  private int inFlight;

  Rails(String label, Device device) {
    this.label = label;
    for (Domain domain : device.domains) {
      data.add(open("data", domain));
    }
    for (Domain domain : device.domains) {
      control.add(open("control", domain));
    }
    registrations = device.registrations.attach(this);
    teardown =
        new Teardown(
            label,
            this,
            this::own,
            SystemNanoClock.INSTANCE,
            YieldingIdleStrategy.INSTANCE,
            BOUND_NS);
  }

  private Rail open(String role, Domain domain) {
    AddressVector peers = domain.openAddressVector(8);
    CompletionQueue queue = domain.openCompletionQueue(256, SLOTS);
    vectors.add(peers);
    queues.add(queue);
    return new Rail(
        domain, domain.openEndpoint(EndpointRequest.of(label + " " + role, peers, queue)));
  }

  private List<Rail> all() {
    List<Rail> all = new ArrayList<>(data);
    all.addAll(control);
    return all;
  }

  private void own(OwnershipGraph graph) {
    List<Rail> all = all();
    for (int i = 0; i < all.size(); i++) {
      Endpoint endpoint = all.get(i).endpoint();
      graph.own(queues.get(i), "queue").own(vectors.get(i), "peers").own(endpoint, "endpoint");
      graph.closesBefore(endpoint, queues.get(i)).closesBefore(endpoint, vectors.get(i));
    }
    registrations.addTo(graph);
  }

  /** The number that this side's data or control rail has for the other's. */
  long peer(boolean dataRail, int rail, Rails other) {
    int index = dataRail ? rail : data.size() + rail;
    return vectors.get(index).insert(other.all().get(index).endpoint().address());
  }

  /** Another slot of the rail's queue. */
  int slot() {
    slot = (slot + 1) % SLOTS;
    return slot;
  }

  /** Posts; as long as the provider cannot, everybody makes progress. */
  void post(IntSupplier post, Rails other) {
    long end = System.nanoTime() + BOUND_NS;
    int code = post.getAsInt();
    while (code == -FabricErrno.EAGAIN && System.nanoTime() < end) {
      poll();
      other.poll();
      Thread.yield();
      code = post.getAsInt();
    }
    assertEquals(0, code);
    inFlight++;
  }

  /** Until nothing is in flight on either side. */
  void drain(Rails other) {
    long end = System.nanoTime() + BOUND_NS;
    while (poll() + other.poll() > 0) {
      if (System.nanoTime() > end) {
        throw new AssertionError(describe() + " and " + other.describe());
      }
      Thread.yield();
    }
  }

  @Override
  public void completed(int context, long flags, long lengthBytes, long remoteData) {
    if (context != CompletionQueue.NO_CONTEXT) {
      inFlight--;
    }
  }

  @Override
  public void failed(CompletionError error) {
    inFlight--;
    assertEquals(FabricErrno.ECANCELED, error.errno(), () -> error.toException().toString());
  }

  @Override
  public int poll() {
    queues.forEach(queue -> queue.poll(this, SLOTS));
    return inFlight;
  }

  @Override
  public String label() {
    return label;
  }

  @Override
  public List<Rail> dataRails() {
    return data;
  }

  @Override
  public List<Rail> controlRails() {
    return control;
  }

  @Override
  public void cancelReceives() {
    cancelAll();
  }

  @Override
  public void cancelAll() {
    for (Rail rail : all()) {
      for (int i = 0; i < SLOTS; i++) {
        rail.endpoint().cancel(i);
      }
    }
  }

  @Override
  public String describe() {
    return inFlight + " on " + label;
  }

  void close() {
    teardown.close();
  }

  int abort() {
    return teardown.abort();
  }
}

package org.jofi.mr.recording;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.IntToLongFunction;
import org.agrona.concurrent.NoOpIdleStrategy;
import org.jofi.fabric.AddressVector;
import org.jofi.mr.ControlRegistration;
import org.jofi.mr.DeviceRegistrations;
import org.jofi.mr.EndpointRegistrations;
import org.jofi.mr.LocalRegistration;
import org.jofi.mr.registration.BufferRange;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.mr.scope.EndpointRails;
import org.jofi.mr.scope.Rail;
import org.jofi.mr.teardown.InFlightOperations;
import org.jofi.mr.teardown.OwnershipGraph;
import org.jofi.mr.teardown.Teardown;

/**
 * A multi-rail endpoint over the recording fabric, as the protocol would have one: endpoints per
 * role, requests that post on every data rail, receive buffers, and a teardown.
 */
public final class MultiRail implements EndpointRails, InFlightOperations {
  static final long DRAIN_NS = 50 * SteppingClock.STEP_NS;

  /** A request in flight: an operation on each rail, and the use that it ends. */
  public record Request(List<RecordingEndpoint> endpoints, List<Integer> contexts, Runnable done) {}

  private final String label;
  private final DeviceRegistrations device;
  private final List<Rail> data = new ArrayList<>();
  private final List<Rail> control = new ArrayList<>();
  private final List<RecordingEndpoint> endpoints = new ArrayList<>();
  public final List<Request> requests = new ArrayList<>();
  public final List<ControlRegistration> mailboxes = new ArrayList<>();
  public final List<LocalRegistration> pools = new ArrayList<>();
  public final EndpointRegistrations registrations;
  public final Teardown teardown;
  public Consumer<DataRegistration> useEnded = registration -> {};

  /** Called after those whose uses ended in a poll were looked at. */
  public Runnable settled = () -> {};

  private int nextContext;

  public MultiRail(
      String label,
      RecordingFabric fabric,
      DeviceRegistrations device,
      int dataRails,
      int controlRails) {
    this.label = label;
    this.device = device;
    for (int i = 0; i < dataRails; i++) {
      data.add(open("data", i, fabric.domains.get(i)));
    }
    for (int i = 0; i < controlRails; i++) {
      control.add(open("control", i, fabric.domains.get(i)));
    }
    registrations = device.attach(this);
    teardown =
        new Teardown(
            label, this, this::own, new SteppingClock(), NoOpIdleStrategy.INSTANCE, DRAIN_NS);
  }

  private Rail open(String role, int index, RecordingDomain domain) {
    RecordingEndpoint endpoint = domain.openEndpoint("%s %s rail %d".formatted(label, role, index));
    endpoints.add(endpoint);
    return new Rail(domain, endpoint);
  }

  private void own(OwnershipGraph graph) {
    for (RecordingEndpoint endpoint : endpoints) {
      graph.own(endpoint.queue(), "queue").own(endpoint.table(), "table");
      graph.own(endpoint, endpoint.label());
      graph.closesBefore(endpoint, endpoint.queue()).closesBefore(endpoint, endpoint.table());
    }
    registrations.addTo(graph);
  }

  /** Posts a receive into the registration on every data rail; false if it was closed meanwhile. */
  public boolean post(DataRegistration registration, BufferRange range) {
    if (!registration.beginUse()) {
      return false;
    }
    postUsed(registration, range);
    return true;
  }

  /** As {@link #post(DataRegistration, BufferRange)}, of one whose use was begun. */
  public void postUsed(DataRegistration registration, BufferRange range) {
    post(
        data,
        registration::descriptor,
        range,
        () -> {
          registration.endUse();
          useEnded.accept(registration);
        });
  }

  /** Posts a receive into a pool on every rail that it is registered on. */
  public void post(LocalRegistration pool, List<Rail> rails) {
    post(rails, pool::descriptor, pool.range(), () -> {});
  }

  private void post(
      List<Rail> rails, IntToLongFunction descriptor, BufferRange range, Runnable done) {
    List<RecordingEndpoint> on = new ArrayList<>();
    List<Integer> contexts = new ArrayList<>();
    for (int rail = 0; rail < rails.size(); rail++) {
      RecordingEndpoint endpoint = (RecordingEndpoint) rails.get(rail).endpoint();
      int context = nextContext++;
      int rc =
          endpoint.recv(
              range.address(),
              range.lengthBytes(),
              descriptor.applyAsLong(rail),
              AddressVector.ANY,
              context);
      if (rc != 0) {
        throw new AssertionError("a post was refused: " + rc);
      }
      on.add(endpoint);
      contexts.add(context);
    }
    requests.add(new Request(on, contexts, done));
  }

  /** Completes a request on all of its rails. */
  public void complete(int index) {
    Request request = requests.get(index);
    for (int i = 0; i < request.contexts.size(); i++) {
      request.endpoints.get(i).complete(request.contexts.get(i));
    }
    poll();
  }

  public List<RecordingEndpoint> endpoints() {
    return endpoints;
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
    for (Request request : requests) {
      for (int i = 0; i < request.contexts.size(); i++) {
        request.endpoints.get(i).cancel(request.contexts.get(i));
      }
    }
  }

  @Override
  public int poll() {
    endpoints.forEach(RecordingEndpoint::progress);
    for (Request request : List.copyOf(requests)) {
      boolean left = false;
      for (int i = 0; i < request.contexts.size(); i++) {
        left |= request.endpoints.get(i).isPosted(request.contexts.get(i));
      }
      if (!left) {
        requests.remove(request);
        request.done.run();
      }
    }
    device.settle();
    settled.run();
    return requests.size();
  }

  @Override
  public String describe() {
    return requests.size() + " request(s)";
  }
}

package org.jofi.conformance.errors;

import java.util.List;
import java.util.Map;
import org.jofi.conformance.bench.Bench;
import org.jofi.conformance.bench.Buffer;
import org.jofi.conformance.bench.Completions;
import org.jofi.conformance.bench.Expect;
import org.jofi.conformance.bench.Pair;
import org.jofi.conformance.bench.Peer;
import org.jofi.conformance.rule.Area;
import org.jofi.conformance.rule.Case;
import org.jofi.fabric.Access;
import org.jofi.fabric.AddressVector;
import org.jofi.fabric.CompletionQueue;
import org.jofi.fabric.Endpoint;
import org.jofi.fabric.EndpointRequest;
import org.jofi.fabric.RegistrationScope;

/** What a completion queue delivers. */
public final class QueueCases {
  private static final int COUNT = 16;
  private static final int BYTES = 64;

  private QueueCases() {}

  /** The cases. */
  public static List<Case> all() {
    return List.of(
        Case.of(
            Area.ERRORS,
            "count",
            "fi_cq(3), fi_cq_read: no more completions are delivered than asked for, and none is"
                + " lost by it",
            QueueCases::count),
        Case.of(
            Area.ERRORS,
            "empty",
            "fi_cq(3), fi_cq_read: a queue of an idle endpoint delivers nothing",
            QueueCases::empty),
        Case.of(
            Area.ERRORS,
            "two-queues",
            "fi_endpoint(3), fi_ep_bind, FI_TRANSMIT, FI_RECV: sends report to the one queue,"
                + " receives to the other",
            QueueCases::twoQueues));
  }

  private static void count(Bench bench) {
    Pair pair = bench.pair();
    Peer right = pair.right();
    Buffer from = pair.left().buffer(BYTES, Access.SEND);
    Buffer into = right.buffer(BYTES * COUNT, Access.RECV);
    int[] received = new int[COUNT];
    for (int i = 0; i < COUNT; i++) {
      received[i] = right.recv(into, (long) BYTES * i, BYTES);
    }
    for (int i = 0; i < COUNT; i++) {
      pair.left().send(from, BYTES, pair.toRight());
    }
    bench.leave(right);
    int[] most = new int[1];
    boolean all =
        bench.within(
            bench.patience(),
            () -> {
              int before = right.completions().size();
              int returned = right.queue().poll(right.completions(), 1);
              int delivered = right.completions().size() - before;
              most[0] = Math.max(most[0], Math.max(returned, delivered));
              return right.completions().of(received[COUNT - 1]).isPresent()
                  && allOf(right, received);
            });
    bench.take(right);
    Expect.same("the most completions that a poll for one delivered", 1, most[0]);
    Expect.that(
        all,
        "all %d completions to come one by one".formatted(COUNT),
        "there are " + right.completions());
  }

  private static boolean allOf(Peer side, int[] slots) {
    for (int slot : slots) {
      if (side.completions().of(slot).isEmpty()) {
        return false;
      }
    }
    return true;
  }

  private static void empty(Bench bench) {
    Pair pair = bench.pair();
    int left = pair.left().completions().size();
    int right = pair.right().completions().size();
    bench.watch();
    Expect.same("completions of the left side", left, pair.left().completions().size());
    Expect.same("completions of the right side", right, pair.right().completions().size());
  }

  private static void twoQueues(Bench bench) {
    Peer right = bench.open("right");
    Peer home = bench.open("home of the endpoint with two queues");
    AddressVector peers = home.domain().openAddressVector(1);
    CompletionQueue sends = home.domain().openCompletionQueue(64, 8);
    CompletionQueue receives = home.domain().openCompletionQueue(64, 8);
    Endpoint endpoint =
        home.domain()
            .openEndpoint(new EndpointRequest("two queues", peers, sends, receives, Map.of()));
    long toRight = peers.insert(right.endpoint().address());
    long toEndpoint = right.peers().insert(endpoint.address());
    var out = bound(bench, home, endpoint, Access.SEND);
    var in = bound(bench, home, endpoint, Access.RECV);
    Buffer rightOut = right.buffer(BYTES, Access.SEND);
    Buffer rightIn = right.buffer(BYTES, Access.RECV);
    Completions sent = new Completions();
    Completions received = new Completions();
    right.recv(rightIn, BYTES);
    right.post(
        "fi_recv",
        () -> {
          sends.poll(sent, 8);
          return endpoint.recv(
              in.memory().address(), BYTES, in.region().descriptor(), AddressVector.ANY, 3);
        });
    right.post(
        "fi_send",
        () -> {
          sends.poll(sent, 8);
          receives.poll(received, 8);
          return endpoint.send(
              out.memory().address(), BYTES, out.region().descriptor(), toRight, 3);
        });
    int[] back = new int[] {right.slot()};
    bench.within(
        bench.patience(),
        () -> {
          sends.poll(sent, 8);
          receives.poll(received, 8);
          return right
                  .endpoint()
                  .send(rightOut.address(), BYTES, rightOut.descriptor(), toEndpoint, back[0])
              == 0;
        });
    boolean both =
        bench.within(
            bench.patience(),
            () -> {
              sends.poll(sent, 8);
              receives.poll(received, 8);
              return sent.of(3).isPresent() && received.of(3).isPresent();
            });
    out.closeIfBound();
    in.closeIfBound();
    endpoint.close();
    out.region().close();
    in.region().close();
    sends.close();
    receives.close();
    peers.close();
    Expect.that(
        both && sent.size() == 1 && received.size() == 1,
        "one completion in each queue",
        "the queue for sends has %s, that for receives %s".formatted(sent, received));
  }

  /** Memory registered for an endpoint that is no side's. */
  private record Bound(
      java.lang.foreign.MemorySegment memory,
      org.jofi.fabric.MemoryRegion region,
      boolean endpointScoped) {
    void closeIfBound() {
      if (endpointScoped) {
        region.close();
      }
    }
  }

  private static Bound bound(Bench bench, Peer home, Endpoint endpoint, long access) {
    var memory = bench.allocate(BYTES);
    var request =
        org.jofi.fabric.RegionRequest.host(memory, access).withRequestedKey(bench.freshKey());
    boolean scoped = home.info().registrationScope() == RegistrationScope.ENDPOINT;
    return new Bound(
        memory,
        scoped
            ? home.domain().registerForEndpoint(request).bind(endpoint).enable()
            : home.domain().register(request),
        scoped);
  }
}

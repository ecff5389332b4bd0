package org.jofi.conformance.isolation;

import java.util.Arrays;
import java.util.List;
import org.jofi.conformance.bench.Bench;
import org.jofi.conformance.bench.Buffer;
import org.jofi.conformance.bench.Bytes;
import org.jofi.conformance.bench.Completion;
import org.jofi.conformance.bench.Expect;
import org.jofi.conformance.bench.Pair;
import org.jofi.conformance.bench.Peer;
import org.jofi.conformance.bench.Target;
import org.jofi.conformance.registration.Protection;
import org.jofi.conformance.rule.Area;
import org.jofi.conformance.rule.Case;
import org.jofi.fabric.Access;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.KeyOwner;
import org.jofi.fabric.PostFlags;
import org.jofi.fabric.RegionRequest;

/** Two rails: two NICs, or two domains of one where there is only one. */
public final class IsolationCases {
  private static final int BYTES = 4096;

  private IsolationCases() {}

  /** The cases. */
  public static List<Case> all() {
    return List.of(
        isolation(
            "addresses",
            "fi_cm(3), fi_getname: endpoints of different domains have different addresses",
            IsolationCases::addresses),
        isolation(
            "completions",
            "fi_cq(3); fi_domain(3): an operation reports to the queue of its own endpoint, and to"
                + " no other domain's",
            IsolationCases::completions),
        isolation(
            "same-key-twice",
            "fi_mr(3), requested_key: keys are a domain's own, so that two domains may use the same"
                + " one for different memory",
            IsolationCases::sameKeyTwice),
        isolation(
                "keys",
                "fi_mr(3); fi_domain(3): a key of one domain opens nothing through an endpoint of"
                    + " another",
                IsolationCases::keys)
            .alone(),
        isolation(
            "closing-one",
            "fi_domain(3): closing one domain's endpoint does not disturb another's",
            IsolationCases::closingOne));
  }

  private static Case isolation(String name, String rule, Case.Body body) {
    return Case.of(Area.ISOLATION, name, rule, body);
  }

  /** Two sides on the NIC of that rail. */
  private static Pair rail(Bench bench, int number) {
    List<FabricInfo> rails = bench.rails();
    FabricInfo nic = rails.get(Math.min(number, rails.size() - 1));
    return bench.connect(
        bench.open("left, rail " + number, nic), bench.open("right, rail " + number, nic));
  }

  private static void addresses(Bench bench) {
    Peer first = rail(bench, 0).left();
    Peer second = rail(bench, 1).left();
    Expect.that(
        !Arrays.equals(first.endpoint().address(), second.endpoint().address()),
        "two endpoints to have two addresses",
        "both have " + Arrays.toString(first.endpoint().address()));
  }

  private static void completions(Bench bench) {
    Pair first = rail(bench, 0);
    Pair second = rail(bench, 1);
    Buffer from = first.left().buffer(BYTES, Access.SEND);
    Buffer into = first.right().buffer(BYTES, Access.RECV);
    List<Completion> left = second.left().completions().all();
    List<Completion> right = second.right().completions().all();
    int received = first.right().recv(into, BYTES);
    int sent = first.left().send(from, BYTES, first.toRight());
    bench.within(
        bench.patience(),
        () ->
            first.left().completions().of(sent).isPresent()
                && first.right().completions().of(received).isPresent());
    bench.watch();
    Expect.that(
        second.left().completions().all().equals(left)
            && second.right().completions().all().equals(right),
        "nothing in the queues of rail 1 while rail 0 sends",
        "they have %s and %s".formatted(second.left().completions(), second.right().completions()));
    first.left().success(sent, "the send on rail 0");
    first.right().success(received, "the receive on rail 0");
  }

  private static void sameKeyTwice(Bench bench) {
    Pair first = rail(bench, 0);
    Pair second = rail(bench, 1);
    long key = bench.freshKey();
    Buffer there = keyed(bench, first.right(), key);
    Buffer there2 = keyed(bench, second.right(), key);
    deliver(bench, first, there, 96);
    deliver(bench, second, there2, 97);
    bench.awaitBytes(first.right(), "the write on rail 0, untouched by rail 1", there.memory(), 96);
  }

  private static Buffer keyed(Bench bench, Peer side, long key) {
    var memory = bench.allocate(BYTES);
    RegionRequest request = RegionRequest.host(memory, Access.REMOTE_WRITE);
    return new Buffer(side, memory, side.registerAs(request.withRequestedKey(key)));
  }

  private static void deliver(Bench bench, Pair rail, Buffer target, long seed) {
    Buffer source = rail.left().buffer(BYTES, Access.WRITE);
    source.fill(BYTES, seed);
    int slot =
        rail.left()
            .write(source, BYTES, rail.toRight(), target.target(), PostFlags.DELIVERY_COMPLETE);
    rail.left().success(slot, "a write on " + rail.left().label());
    bench.awaitBytes(rail.right(), "a write on " + rail.left().label(), target.memory(), seed);
  }

  private static void keys(Bench bench) {
    Pair first = rail(bench, 0);
    Pair second = rail(bench, 1);
    Buffer secret = first.right().buffer(BYTES, Access.REMOTE_WRITE);
    secret.clear();
    Target place = secret.target();
    if (bench.info().keyOwner() == KeyOwner.PROVIDER) {
      // A key that the provider gave to a region of the second domain as well opens that one.
      Buffer own = second.right().buffer(BYTES, Access.REMOTE_WRITE);
      if (own.region().key() == place.key()) {
        own.region().close();
      }
    }
    Buffer source = second.left().buffer(BYTES, Access.WRITE);
    source.fill(BYTES, 98);
    int slot =
        second.left().write(source, BYTES, second.toRight(), place, PostFlags.DELIVERY_COMPLETE);
    Protection.nothingLands(
        bench, second.left(), slot, secret, "a write on rail 1 with a key of rail 0");
  }

  private static void closingOne(Bench bench) {
    Pair first = rail(bench, 0);
    Pair second = rail(bench, 1);
    deliver(bench, second, second.right().buffer(BYTES, Access.REMOTE_WRITE), 99);
    bench.close(first.left());
    bench.close(first.right());
    Buffer target = second.right().buffer(BYTES, Access.REMOTE_WRITE);
    deliver(bench, second, target, 100);
    Expect.that(Bytes.match(target.memory(), 100), "the write on rail 1 to be there", "it is not");
  }
}

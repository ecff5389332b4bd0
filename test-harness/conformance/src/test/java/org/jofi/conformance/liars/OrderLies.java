package org.jofi.conformance.liars;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricHints;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.MessageOrder;
import org.jofi.fabric.PostFlags;

/** Lies of orders that are claimed. */
final class OrderLies {
  private OrderLies() {}

  private static final int LARGE = 65_536;

  static List<Liar> all() {
    return List.of(
        overtaking(
            MessageOrder.SAS,
            "ordering/send-after-send",
            post -> post.kind() == Post.Kind.SEND && post.bytes() == 64,
            post -> post.kind() == Post.Kind.SEND),
        overtaking(
            MessageOrder.SAW,
            "ordering/send-after-write",
            post -> post.kind() == Post.Kind.WRITE,
            post -> post.kind() == Post.Kind.SEND),
        overtaking(
            MessageOrder.WAW,
            "ordering/write-after-write",
            post -> post.kind() == Post.Kind.WRITE,
            post -> post.kind() == Post.Kind.WRITE),
        overtaking(
            MessageOrder.RAW,
            "ordering/read-after-write",
            post -> post.kind() == Post.Kind.WRITE,
            post -> post.kind() == Post.Kind.READ),
        new Liar(
            "claims FI_ORDER_WAR and does not keep it",
            "tcp",
            "ordering/write-after-read",
            () ->
                new Overtaking(
                    Set.of(MessageOrder.WAR),
                    post -> post.kind() == Post.Kind.READ,
                    post -> post.kind() == Post.Kind.WRITE) {
                  @Override
                  List<FabricInfo> discover(LyingProvider provider, FabricHints hints) {
                    if (!hints.messageOrder().equals(Set.of(MessageOrder.WAR))) {
                      return super.discover(provider, hints);
                    }
                    return provider.real().discover(hints.withMessageOrder(Set.of())).stream()
                        .map(
                            info ->
                                DiscoveryLies.copy(info).messageOrder(hints.messageOrder()).build())
                        .toList();
                  }
                }),
        new Liar(
            "ignores fences",
            "cxi",
            "ordering/fence",
            () ->
                new Overtaking(
                    Set.of(),
                    post -> post.kind() == Post.Kind.WRITE && post.bytes() == LARGE,
                    post -> (post.flags() & PostFlags.FENCE) != 0)));
  }

  private static Liar overtaking(
      MessageOrder order, String breaks, Predicate<Post> held, Predicate<Post> passing) {
    return new Liar(
        "claims FI_ORDER_" + order + " and does not keep it",
        "tcp",
        breaks,
        () -> new Overtaking(Set.of(order), held, passing));
  }

  /** Holds an operation back until another one was posted, or for a while. */
  private static class Overtaking extends Lie {
    private static final long FEW_MILLIS = 5;
    private static final long LONGEST_MILLIS = 50;

    private final Set<MessageOrder> claimed;
    private final Predicate<Post> held;
    private final Predicate<Post> passing;
    private final Map<LyingEndpoint, Post> waiting = new HashMap<>();

    Overtaking(Set<MessageOrder> claimed, Predicate<Post> held, Predicate<Post> passing) {
      this.claimed = claimed;
      this.held = held;
      this.passing = passing;
    }

    @Override
    synchronized int post(LyingEndpoint endpoint, Post post) {
      Post behind = waiting.get(endpoint);
      if (behind != null && passing.test(post)) {
        int code = endpoint.pass(post.withFlags(post.flags() & ~PostFlags.FENCE));
        if (code == 0) {
          waiting.remove(endpoint);
          post(endpoint, behind, FEW_MILLIS);
        }
        return code;
      }
      boolean applies =
          claimed.isEmpty() || endpoint.domain().info().messageOrder().equals(claimed);
      if (applies && behind == null && held.test(post)) {
        waiting.put(endpoint, post);
        endpoint.transmitQueue.later(LONGEST_MILLIS, () -> again(endpoint, post));
        return 0;
      }
      return endpoint.pass(post);
    }

    private synchronized boolean again(LyingEndpoint endpoint, Post post) {
      if (!post.equals(waiting.get(endpoint))) {
        return false;
      }
      if (endpoint.open && endpoint.pass(post) == -FabricErrno.EAGAIN) {
        return true;
      }
      waiting.remove(endpoint);
      return false;
    }

    private static void post(LyingEndpoint endpoint, Post post, long millis) {
      endpoint.transmitQueue.later(
          millis, () -> endpoint.open && endpoint.pass(post) == -FabricErrno.EAGAIN);
    }
  }
}

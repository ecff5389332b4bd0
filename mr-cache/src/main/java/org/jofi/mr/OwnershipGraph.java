package org.jofi.mr;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;

/**
 * Who must close before whom, and the closing itself. Whoever owns something adds it, whoever knows
 * an order adds that, and nobody writes a sequence of closings by hand. One thread at a time.
 *
 * <p>Orders may name things that are not owned here: those are not closed, and order nothing.
 */
public final class OwnershipGraph {

  /** What can also be closed although something still uses it, when all else failed. */
  public interface Forcible extends AutoCloseable {
    @Override
    void close();

    /** Closes it whatever is in flight. */
    void closeRegardless();
  }

  private static final class Node {
    final AutoCloseable thing;
    final List<Node> earlier = new ArrayList<>();
    String label = "";
    boolean owned;
    boolean closed;

    Node(AutoCloseable thing) {
      this.thing = thing;
    }

    boolean isOpen() {
      return owned && !closed;
    }

    void close(boolean regardless) throws Exception {
      if (regardless && thing instanceof Forcible forcible) {
        forcible.closeRegardless();
      } else {
        thing.close();
      }
      closed = true;
    }
  }

  private final IdentityHashMap<AutoCloseable, Node> nodes = new IdentityHashMap<>();
  private final List<Node> owned = new ArrayList<>();

  /** Owns nothing yet. */
  public OwnershipGraph() {}

  /** Adds a thing to close, called so in errors; again is a no-op. */
  public OwnershipGraph own(AutoCloseable thing, String label) {
    Node node = nodes.computeIfAbsent(thing, Node::new);
    if (!node.owned) {
      node.owned = true;
      node.label = label;
      owned.add(node);
    }
    return this;
  }

  /** Demands that one thing is closed before another. */
  public OwnershipGraph closesBefore(AutoCloseable first, AutoCloseable then) {
    nodes.computeIfAbsent(then, Node::new).earlier.add(nodes.computeIfAbsent(first, Node::new));
    return this;
  }

  /** Labels of what is open, in the order it was added. */
  public List<String> open() {
    return owned.stream().filter(Node::isOpen).map(node -> node.label).toList();
  }

  /**
   * Closes everything that is open, each thing after those that must close before it. Where one
   * cannot be closed, those that wait for it stay open and all others are closed; call again to try
   * again.
   *
   * @param regardless whether to close {@link Forcible} things whatever is in flight
   * @throws IllegalStateException if the orders go in a circle; nothing was closed then
   * @throws TeardownException if something stays open
   */
  public void close(boolean regardless) {
    List<Node> order = inOrder();
    List<Exception> failures = new ArrayList<>();
    for (Node node : order) {
      if (node.earlier.stream().anyMatch(Node::isOpen)) {
        continue;
      }
      try {
        node.close(regardless);
      } catch (Exception e) {
        failures.add(e);
      }
    }
    List<String> left = open();
    if (!left.isEmpty()) {
      throw new TeardownException("cannot close %s".formatted(String.join(", ", left)), failures);
    }
  }

  /** What is open, each after what must close before it, else as added. */
  private List<Node> inOrder() {
    List<Node> waiting = new ArrayList<>(owned.stream().filter(Node::isOpen).toList());
    List<Node> order = new ArrayList<>(waiting.size());
    while (!waiting.isEmpty()) {
      int before = order.size();
      for (Node node : List.copyOf(waiting)) {
        if (node.earlier.stream().noneMatch(waiting::contains)) {
          waiting.remove(node);
          order.add(node);
        }
      }
      if (order.size() == before) {
        throw new IllegalStateException(
            "each of these must close before another of them: "
                + waiting.stream().map(node -> node.label).toList());
      }
    }
    return order;
  }
}

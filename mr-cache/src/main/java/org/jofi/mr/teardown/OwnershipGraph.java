package org.jofi.mr.teardown;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;

/**
 * Closes things in the right order. Each owner adds what it owns, and the code that knows which
 * thing must close before which adds that. The graph finds the order, so that no code has to
 * contain one. One thread at a time.
 *
 * <p>An order may name things that are not in the graph. They are not closed, and the order has no
 * effect.
 */
public final class OwnershipGraph {

  /** A thing that can be closed even while something uses it, as a last resort. */
  public interface Forcible extends AutoCloseable {
    @Override
    void close();

    /** Closes it even if operations are in flight. */
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

  /** Creates an empty graph. */
  public OwnershipGraph() {}

  /** Adds a thing to close, with its name for error messages. A second call does nothing. */
  public OwnershipGraph own(AutoCloseable thing, String label) {
    Node node = nodes.computeIfAbsent(thing, Node::new);
    if (!node.owned) {
      node.owned = true;
      node.label = label;
      owned.add(node);
    }
    return this;
  }

  /** Requires that one thing closes before another. */
  public OwnershipGraph closesBefore(AutoCloseable first, AutoCloseable then) {
    nodes.computeIfAbsent(then, Node::new).earlier.add(nodes.computeIfAbsent(first, Node::new));
    return this;
  }

  /** The labels of things that are open, in the order in which they were added. */
  public List<String> open() {
    return owned.stream().filter(Node::isOpen).map(node -> node.label).toList();
  }

  /**
   * Closes everything that is open, each thing after those that must close before it. If one cannot
   * be closed, those that must close after it stay open, and all others are closed. Call again to
   * retry.
   *
   * @param regardless whether to close {@link Forcible} things even if operations are in flight
   * @throws IllegalStateException if the orders form a cycle; nothing was closed then
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

  /**
   * The open things, each after those that must close before it, otherwise in the order in which
   * they were added.
   */
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

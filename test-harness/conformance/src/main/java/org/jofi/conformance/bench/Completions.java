package org.jofi.conformance.bench;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jofi.fabric.CompletionError;
import org.jofi.fabric.CompletionQueue;

/** All that a queue delivered, in order. One thread at a time. */
public final class Completions implements CompletionQueue.Sink {
  private final List<Completion> all = new ArrayList<>();
  private final List<Completion> arrivals = new ArrayList<>();
  private final Map<Integer, Completion> firstOf = new HashMap<>();
  private final Map<Integer, Integer> counts = new HashMap<>();

  /** Empty. */
  public Completions() {}

  @Override
  public void completed(int context, long flags, long lengthBytes, long data) {
    add(new Completion(context, flags, lengthBytes, data, false, 0, ""));
  }

  @Override
  public void failed(CompletionError error) {
    add(
        new Completion(
            error.context(),
            error.flags(),
            error.lengthBytes(),
            error.data(),
            true,
            error.errno(),
            error.providerText()));
  }

  /** All of them, oldest first. */
  public List<Completion> all() {
    return List.copyOf(all);
  }

  /** How many there are. */
  public int size() {
    return all.size();
  }

  /** The first of that slot. */
  public Optional<Completion> of(int context) {
    return Optional.ofNullable(firstOf.get(context));
  }

  /** How many of that slot. */
  public int countOf(int context) {
    return counts.getOrDefault(context, 0);
  }

  /** Arrivals of immediate data with peers' writes, oldest first. */
  public List<Completion> arrivals() {
    return List.copyOf(arrivals);
  }

  private void add(Completion completion) {
    all.add(completion);
    firstOf.putIfAbsent(completion.context(), completion);
    counts.merge(completion.context(), 1, Integer::sum);
    if (completion.isArrival()) {
      arrivals.add(completion);
    }
  }

  @Override
  public String toString() {
    return all.isEmpty() ? "none" : all.toString();
  }
}

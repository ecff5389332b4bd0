package org.jofi.collectives.schedule;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/** The steps of a rank while they are written, and what each has to wait for. For one thread. */
final class Recording {
  /** Where the input begins in the output of a rank for which they are different memory. */
  static final long APART = Long.MIN_VALUE;

  private final long inputInOutput;
  private final List<Step> steps = new ArrayList<>();
  private final List<int[]> needs = new ArrayList<>();
  private final Map<Place, Uses> uses = new EnumMap<>(Place.class);
  private long scratch;

  /**
   * @param inputInOutput where the input begins in the output, in elements; {@link #APART}
   */
  Recording(long inputInOutput) {
    this.inputInOutput = inputInOutput;
  }

  long scratch(long elements) {
    if (elements < 0) {
      throw new IllegalArgumentException("scratch of %d elements".formatted(elements));
    }
    long at = scratch;
    scratch += elements;
    return at;
  }

  /** The next step, which waits for the earlier ones whose memory it uses. */
  void add(Step step) {
    int index = steps.size();
    TreeSet<Integer> earlier = new TreeSet<>();
    Place first = step.first();
    if (first != null) {
      of(first).read(begin(first, step.firstOffset()), step.count(), index, earlier);
    }
    Place second = step.second();
    if (second != null) {
      of(second).read(begin(second, step.secondOffset()), step.count(), index, earlier);
    }
    Place into = step.into();
    if (into != null) {
      of(into).write(begin(into, step.intoOffset()), step.count(), index, earlier);
    }
    earlier.remove(index);
    steps.add(step);
    needs.add(earlier.stream().mapToInt(Integer::intValue).toArray());
  }

  private Uses of(Place place) {
    return uses.computeIfAbsent(memory(place), any -> new Uses());
  }

  /** Whether two places are one memory. */
  boolean isOne(Place one, Place other) {
    return memory(one) == memory(other);
  }

  /** Whether an element of a place is one of another place. */
  boolean isSame(Place one, long offset, Place other, long otherOffset) {
    return isOne(one, other) && begin(one, offset) == begin(other, otherOffset);
  }

  private Place memory(Place place) {
    return place == Place.INPUT && inputInOutput != APART ? Place.OUTPUT : place;
  }

  private long begin(Place place, long offset) {
    return place == Place.INPUT && inputInOutput != APART ? offset + inputInOutput : offset;
  }

  Schedule schedule(int rank, int size) {
    return new Schedule(rank, size, scratch, steps, needs);
  }
}

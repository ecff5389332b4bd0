package org.jofi.collectives;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jofi.collectives.schedule.Algorithms;
import org.jofi.collectives.schedule.Place;
import org.jofi.collectives.schedule.Schedule;
import org.jofi.collectives.schedule.Step;
import org.jofi.transport.TransportException;
import org.jspecify.annotations.Nullable;

/**
 * A schedule that runs over connections, again and again, on memory that each run names. For one
 * thread; a run allocates nothing.
 */
final class Program {
  private static final long ALIGNMENT = 64;

  /** After so many bytes of work on its own memory, a rank looks after its messages. */
  private static final long WORK_BYTES = 256 << 10;

  private final Collective collective;
  private final Algorithms.Choice choice;
  private final String words;
  private int tag;
  private final Step.Kind[] kinds;
  private final long[] counts;
  private final @Nullable Place[] firsts;
  private final long[] firstOffsets;
  private final @Nullable Place[] seconds;
  private final long[] secondOffsets;
  private final @Nullable Place[] intos;
  private final long[] intoOffsets;
  private final int[] initialNeeds;
  private final int[][] waiting;
  private final int[] needs;

  /** Steps on this rank's own memory that may be done, as a ring. */
  private final int[] ready;

  private final MemorySegment scratch;
  private final List<Lane> lanes = new ArrayList<>();
  private final @Nullable Arithmetic arithmetic;
  private final int elementBytes;
  private long readyBegin;
  private long readyEnd;
  private int left;
  private MemorySegment input = MemorySegment.NULL;
  private MemorySegment output = MemorySegment.NULL;

  Program(
      Collective collective,
      Algorithms.Choice choice,
      String words,
      Schedule schedule,
      Members members,
      Peers peers,
      int window) {
    this.collective = collective;
    this.choice = choice;
    this.words = words;
    elementBytes = collective.type().bytes();
    Reduction reduction = collective.reduction();
    arithmetic =
        reduction == null ? null : Arithmetic.of(collective.type(), reduction, members.size());
    List<Step> steps = schedule.steps();
    int size = steps.size();
    kinds = new Step.Kind[size];
    counts = new long[size];
    firsts = new @Nullable Place[size];
    firstOffsets = new long[size];
    seconds = new @Nullable Place[size];
    secondOffsets = new long[size];
    intos = new @Nullable Place[size];
    intoOffsets = new long[size];
    initialNeeds = new int[size];
    waiting = new int[size][];
    for (int i = 0; i < size; i++) {
      Step step = steps.get(i);
      kinds[i] = step.kind();
      counts[i] = step.count();
      firsts[i] = step.first();
      firstOffsets[i] = step.firstOffset() * elementBytes;
      seconds[i] = step.second();
      secondOffsets[i] = step.secondOffset() * elementBytes;
      intos[i] = step.into();
      intoOffsets[i] = step.intoOffset() * elementBytes;
      initialNeeds[i] = schedule.needs(i);
      waiting[i] = schedule.waiting(i).toArray();
    }
    needs = new int[size];
    ready = new int[Math.max(1, size)];
    // Freed by the collector, which the transport keeps from it while a NIC may still write.
    scratch =
        schedule.scratch() == 0
            ? MemorySegment.NULL
            : Arena.ofAuto().allocate(schedule.scratch() * elementBytes, ALIGNMENT);
    // Receives first, so that a message finds one.
    schedule
        .peers(Step.Kind.RECEIVE)
        .forEach(
            peer ->
                lanes.add(
                    new Incoming(
                        peers.from(peer),
                        this,
                        schedule.messages(Step.Kind.RECEIVE, peer).toArray(),
                        window,
                        members.name(peer))));
    schedule
        .peers(Step.Kind.SEND)
        .forEach(
            peer ->
                lanes.add(
                    new Outgoing(
                        peers.to(peer),
                        this,
                        schedule.messages(Step.Kind.SEND, peer).toArray(),
                        window,
                        members.name(peer))));
  }

  private MemorySegment memory(@Nullable Place place) {
    return switch (place) {
      case INPUT -> input;
      case OUTPUT -> output;
      case SCRATCH -> scratch;
      case null -> MemorySegment.NULL;
    };
  }

  Collective collective() {
    return collective;
  }

  Algorithms.Choice choice() {
    return choice;
  }

  /** What it does and how, for messages. */
  String words() {
    return words;
  }

  int tag() {
    return tag;
  }

  /** Begins a run. */
  void start(MemorySegment from, MemorySegment to, int tagOfRun) {
    input = from;
    output = to;
    tag = tagOfRun;
    System.arraycopy(initialNeeds, 0, needs, 0, needs.length);
    left = needs.length;
    readyBegin = 0;
    readyEnd = 0;
    for (int i = 0; i < lanes.size(); i++) {
      lanes.get(i).reset();
    }
    for (int step = 0; step < needs.length; step++) {
      if (needs[step] == 0 && isLocal(step)) {
        ready[(int) (readyEnd++ % ready.length)] = step;
      }
    }
  }

  boolean isOver() {
    return left == 0;
  }

  /** Keeps the memory of a run that is over from nobody. */
  void forgetMemory() {
    input = MemorySegment.NULL;
    output = MemorySegment.NULL;
  }

  /**
   * Goes on; whether anything happened.
   *
   * @throws TransportException if a message failed
   */
  boolean advance(Waiting reasons) {
    boolean worked = work();
    for (int i = 0; i < lanes.size(); i++) {
      Lane lane = lanes.get(i);
      try {
        worked |= lane.advance();
      } catch (TransportException failure) {
        throw reasons.reason(failure, lane.doing());
      }
    }
    return worked;
  }

  private boolean work() {
    long done = 0;
    boolean worked = false;
    while (readyBegin < readyEnd && done < WORK_BYTES) {
      int step = ready[(int) (readyBegin++ % ready.length)];
      done += counts[step] * elementBytes;
      work(step);
      over(step);
      worked = true;
    }
    return worked;
  }

  private void work(int step) {
    switch (kinds[step]) {
      case COPY ->
          MemorySegment.copy(
              first(step), firstOffsets[step], into(step), intoOffsets[step], bytes(step));
      case COMBINE -> {
        if (arithmetic != null) {
          arithmetic.combine(
              first(step),
              firstOffsets[step],
              memory(seconds[step]),
              secondOffsets[step],
              into(step),
              intoOffsets[step],
              counts[step]);
        }
      }
      case FINISH -> {
        if (arithmetic != null && arithmetic.finishes()) {
          arithmetic.finish(into(step), intoOffsets[step], counts[step]);
        }
      }
      case SEND, RECEIVE -> throw new IllegalStateException("a message is no work");
    }
  }

  private boolean isLocal(int step) {
    return kinds[step] != Step.Kind.SEND && kinds[step] != Step.Kind.RECEIVE;
  }

  /** Whether all that a step waits for is over. */
  boolean isReady(int step) {
    return needs[step] == 0;
  }

  /** A step is over: others may go on. */
  void over(int step) {
    left--;
    for (int next : waiting[step]) {
      if (--needs[next] == 0 && isLocal(next)) {
        ready[(int) (readyEnd++ % ready.length)] = next;
      }
    }
  }

  MemorySegment first(int step) {
    return memory(firsts[step]);
  }

  long firstOffset(int step) {
    return firstOffsets[step];
  }

  MemorySegment into(int step) {
    return memory(intos[step]);
  }

  long intoOffset(int step) {
    return intoOffsets[step];
  }

  long bytes(int step) {
    return counts[step] * elementBytes;
  }
}

package org.jofi.collectives;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
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

  /** Makes unlike numbers of lengths that are nearly alike: 2^64 over the golden ratio. */
  private static final long SPREAD = 0x9E3779B97F4A7C15L;

  /** After so many bytes of work on its own memory, a rank looks after its messages. */
  private static final long WORK_BYTES = 256 << 10;

  private final Collective collective;
  private final Algorithms.Choice choice;
  private final String words;
  private int tag;
  private final boolean byCounts;
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

  /** Steps on this rank's own memory that may be done, each once in a run. */
  private final int[] ready;

  private final @Nullable Gpu gpu;
  private final Operand scratch;
  private final Lane[] lanes;
  private final @Nullable Arithmetic arithmetic;
  private final int elementBytes;
  private int readyBegin;
  private int readyEnd;
  private int left;
  private Operand input = Operand.NONE;
  private Operand output = Operand.NONE;

  /**
   * @param gpu whose memory it works on; null for host memory
   */
  Program(
      Collective collective,
      Algorithms.Choice choice,
      String words,
      Schedule schedule,
      Members members,
      Peers peers,
      int window,
      @Nullable Gpu gpu) {
    this.gpu = gpu;
    this.collective = collective;
    this.choice = choice;
    this.words = words;
    byCounts = collective.operation().isByCounts();
    elementBytes = collective.type().bytes();
    Reduction reduction = collective.reduction();
    arithmetic =
        reduction == null || gpu != null
            ? null
            : Arithmetic.of(collective.type(), reduction, members.size());
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
    ready = new int[size];
    scratch = scratch(schedule.scratch() * elementBytes);
    List<Lane> all = new ArrayList<>();
    // Receives first, so that a message finds one.
    schedule
        .peers(Step.Kind.RECEIVE)
        .forEach(
            peer ->
                all.add(
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
                all.add(
                    new Outgoing(
                        peers.to(peer),
                        this,
                        schedule.messages(Step.Kind.SEND, peer).toArray(),
                        window,
                        members.name(peer))));
    lanes = all.toArray(Lane[]::new);
  }

  private Operand scratch(long bytes) {
    if (bytes == 0) {
      return Operand.NONE;
    }
    // That of the host is freed by the collector, which the transport keeps from it while a NIC may
    // still write.
    return gpu != null
        ? gpu.allocate(bytes)
        : Operand.of(Arena.ofAuto().allocate(bytes, ALIGNMENT));
  }

  Operand operand(@Nullable Place place) {
    if (place == null) {
      return Operand.NONE;
    }
    // With a case for null it would be a call of a method handle.
    return switch (place) {
      case INPUT -> input;
      case OUTPUT -> output;
      case SCRATCH -> scratch;
    };
  }

  /** Memory of the next runs, until {@link #release}; of a GPU it is registered until then. */
  void take(Operand from, Operand to) {
    input = from;
    output = to;
    if (gpu != null) {
      for (Lane lane : lanes) {
        lane.take();
      }
    }
  }

  /** Keeps the memory of runs that are over from nobody. */
  void release() {
    for (Lane lane : lanes) {
      lane.release();
    }
    input = Operand.NONE;
    output = Operand.NONE;
  }

  /** Gives back its own memory on a GPU, which nothing uses any more. */
  void close() {
    release();
    if (gpu != null) {
      gpu.free(scratch);
    }
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

  /**
   * The tag of a message. Where each pair of ranks has a length of its own it is part of the tag,
   * so that messages of lengths that do not match do not meet, as those of other operations.
   */
  int tag(int step) {
    return byCounts ? tag + Long.hashCode(bytes(step) * SPREAD) : tag;
  }

  /** Begins a run, on the memory that was taken. */
  void start(int tagOfRun) {
    tag = tagOfRun;
    System.arraycopy(initialNeeds, 0, needs, 0, needs.length);
    left = needs.length;
    readyBegin = 0;
    readyEnd = 0;
    for (Lane lane : lanes) {
      lane.reset();
    }
    for (int step = 0; step < needs.length; step++) {
      if (needs[step] == 0 && isLocal(step)) {
        ready[readyEnd++] = step;
      }
    }
  }

  boolean isOver() {
    return left == 0;
  }

  /**
   * Goes on; whether anything happened.
   *
   * @throws TransportException if a message failed
   */
  boolean advance(Waiting reasons) {
    boolean worked = false;
    // All are posted before any is looked at, which makes progress and takes time: others wait.
    for (Lane lane : lanes) {
      worked |= advance(lane, true, reasons);
    }
    for (Lane lane : lanes) {
      worked |= advance(lane, false, reasons);
    }
    return work() || worked;
  }

  private static boolean advance(Lane lane, boolean posts, Waiting reasons) {
    try {
      return posts ? lane.postReady() : lane.takeOldest();
    } catch (TransportException failure) {
      throw reasons.reason(failure, lane.doing());
    }
  }

  private boolean work() {
    long done = 0;
    boolean worked = false;
    while (readyBegin < readyEnd && done < WORK_BYTES) {
      int step = ready[readyBegin++];
      done += counts[step] * elementBytes;
      work(step);
      over(step);
      worked = true;
    }
    return worked;
  }

  private void work(int step) {
    if (gpu != null) {
      workOnGpu(gpu, step);
      return;
    }
    switch (kinds[step]) {
      case COPY ->
          MemorySegment.copy(
              segment(firsts[step]),
              firstOffsets[step],
              segment(intos[step]),
              intoOffsets[step],
              bytes(step));
      case COMBINE -> {
        if (arithmetic != null) {
          arithmetic.combine(
              segment(firsts[step]),
              firstOffsets[step],
              segment(seconds[step]),
              secondOffsets[step],
              segment(intos[step]),
              intoOffsets[step],
              counts[step]);
        }
      }
      case FINISH -> {
        if (arithmetic != null && arithmetic.finishes()) {
          arithmetic.finish(segment(intos[step]), intoOffsets[step], counts[step]);
        }
      }
      case SEND, RECEIVE -> throw new IllegalStateException("a message is no work");
    }
  }

  private void workOnGpu(Gpu on, int step) {
    long first = operand(firsts[step]).address() + firstOffsets[step];
    long into = operand(intos[step]).address() + intoOffsets[step];
    switch (kinds[step]) {
      case COPY -> on.copy(first, into, bytes(step));
      case COMBINE ->
          on.add(first, operand(seconds[step]).address() + secondOffsets[step], into, counts[step]);
      // A sum is over once it is added up.
      case FINISH -> {}
      case SEND, RECEIVE -> throw new IllegalStateException("a message is no work");
    }
  }

  private MemorySegment segment(@Nullable Place place) {
    return operand(place).segment();
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
        ready[readyEnd++] = next;
      }
    }
  }

  /** What a message is sent from. */
  Place firstPlace(int step) {
    return Objects.requireNonNull(firsts[step]);
  }

  long firstOffset(int step) {
    return firstOffsets[step];
  }

  /** What a message is received into. */
  Place intoPlace(int step) {
    return Objects.requireNonNull(intos[step]);
  }

  long intoOffset(int step) {
    return intoOffsets[step];
  }

  long bytes(int step) {
    return counts[step] * elementBytes;
  }
}

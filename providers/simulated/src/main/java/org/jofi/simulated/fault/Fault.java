package org.jofi.simulated.fault;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * The faults that a simulation can inject. Each has its own random stream, derived from the seed,
 * and is counted.
 */
public enum Fault {
  /** A post is refused with {@code -EAGAIN}. Drawn per post. */
  EAGAIN(Kind.SURVIVABLE, "post"),
  /** An operation is late, and so are those that follow it on the same path. Per operation. */
  DELAY(Kind.SURVIVABLE, "operation"),
  /** An operation arrives after later ones of its rail, as far as the order allows. */
  REORDER_WITHIN_RAIL(Kind.SURVIVABLE, "operation"),
  /** Everything that a rail sends to a peer is late compared to other rails. Per operation. */
  REORDER_BETWEEN_RAILS(Kind.SURVIVABLE, "operation"),
  /** A NIC neither sends nor receives for 1 to 20 ms. Per post. */
  STALLED_RAIL(Kind.SURVIVABLE, "post"),
  /** A completion queue is full for 5 to 100 µs: posts return {@code -EAGAIN}. Per post. */
  FULL_CQ(Kind.SURVIVABLE, "post"),
  /** An operation completes with an error; its data may have arrived, in part or whole. */
  COMPLETION_ERROR(Kind.REPORTED, "operation"),
  /** A registration fails with {@code ENOMEM}, or enabling it with {@code ENOSPC}. */
  REGISTRATION_ENOMEM(Kind.REPORTED, "registration"),
  /** A registration fails with {@code ENOKEY}. */
  REGISTRATION_ENOKEY(Kind.REPORTED, "registration"),
  /** A NIC dies for good. At most one in a run. Per post. */
  DEAD_RAIL(Kind.REPORTED, "post"),
  /** A host dies for good, and its participants with it. At most one in a run. Per post. */
  DEAD_PEER(Kind.REPORTED, "post"),
  /** Broken: a write's data never reaches memory, but the write reports success. Per write. */
  DROPPED_WRITE(Kind.BROKEN, "write"),
  /** Broken: a write's data is written elsewhere in the region, if there is room. Per write. */
  MISPLACED_WRITE(Kind.BROKEN, "write"),
  /** Broken: only the first half of a write's data reaches memory. Per write. */
  PARTIAL_WRITE(Kind.BROKEN, "write"),
  /**
   * Broken: a write is reported at the initiator and the target before its data is in memory. Per
   * write.
   */
  EARLY_COMPLETION(Kind.BROKEN, "write"),
  /** Data for device memory becomes visible only after a read through the same NIC. Per write. */
  STALE_UNTIL_FLUSH(Kind.BROKEN, "write"),
  /**
   * Broken: an arrival at a full completion queue overruns it, and it stays broken. Per arrival.
   */
  CQ_OVERRUN(Kind.BROKEN, "arrival at a full queue"),
  /** A tcp connection breaks and comes back: an operation is lost, and may report success. */
  LOST_CONNECTION(Kind.BROKEN, "operation");

  /** How a correct program can handle it. */
  public enum Kind {
    /** Nothing is lost: every operation succeeds in the end. */
    SURVIVABLE,
    /** Operations fail, and the failure is reported. */
    REPORTED,
    /** The fabric breaks its guarantees, or needs a flush to keep them. */
    BROKEN
  }

  private final Kind kind;
  private final String per;

  Fault(Kind kind, String per) {
    this.kind = kind;
    this.per = per;
  }

  /** How a correct program can handle it. */
  public Kind kind() {
    return kind;
  }

  /** The event that it is drawn for. */
  public String per() {
    return per;
  }

  /** Its name on a command line, such as {@code stalled-rail}. */
  public String option() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** All faults of a kind, in order. */
  public static List<Fault> of(Kind kind) {
    return Arrays.stream(values()).filter(fault -> fault.kind == kind).toList();
  }

  /** Its probability per draw, if the plan does not give one. */
  double usualProbability() {
    return switch (this) {
      case EAGAIN -> 0.05;
      case LOST_CONNECTION -> 0.01;
      case DELAY, REORDER_BETWEEN_RAILS -> 0.02;
      case REORDER_WITHIN_RAIL -> 0.05;
      case FULL_CQ, COMPLETION_ERROR -> 0.005;
      case STALLED_RAIL -> 0.001;
      case REGISTRATION_ENOMEM, REGISTRATION_ENOKEY -> 0.02;
      case DEAD_RAIL, DEAD_PEER -> 0.0002;
      case DROPPED_WRITE,
          MISPLACED_WRITE,
          PARTIAL_WRITE,
          EARLY_COMPLETION,
          STALE_UNTIL_FLUSH,
          CQ_OVERRUN ->
          1;
    };
  }

  /** Whether it happens at most once in a run. */
  public boolean once() {
    return this == DEAD_RAIL || this == DEAD_PEER;
  }

  /** Its number, used in arrays and traces. */
  @SuppressWarnings("EnumOrdinal")
  public int number() {
    return ordinal();
  }
}

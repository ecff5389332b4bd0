package org.jofi.ranks;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * What the ranks of a run meet at: it lets each in once, checks that all have the same parameters,
 * passes on their messages, tells all when one is lost, and lets the rest go on. Any thread; it
 * waits for nobody while it has its lock.
 *
 * <p>A run has generations: one ends when a rank is lost, and the next begins when all that are
 * left have asked for it. A rank has a number in each; it is let in, and lost, by its first one.
 */
final class BootstrapRun {
  private final int size;
  private final RankNames names;
  private final @Nullable Member[] members;

  /** Of this generation, by number. */
  private @Nullable Member[] current;

  private final StoreTable store = new StoreTable();
  private int joined;
  private int gathered;
  private boolean closed;

  /** Why this generation is over. */
  private @Nullable Frame failure;

  BootstrapRun(int size, RankNames names) {
    this.size = size;
    this.names = names;
    this.members = new @Nullable Member[size];
    this.current = members;
  }

  /** How many ranks there are at first. */
  int size() {
    return size;
  }

  /**
   * Lets a rank in.
   *
   * @param number that it asks for
   * @param sink takes what it is told
   * @return the rank, or the frame that says why it cannot join
   */
  synchronized Object join(int number, Hello hello, FrameSink sink) {
    Frame broken = failure;
    return broken == null ? joinWhole(number, hello, sink) : broken;
  }

  private Object joinWhole(int number, Hello hello, FrameSink sink) {
    for (int rank = 0; rank < size; rank++) {
      Member other = members[rank];
      if (other != null) {
        String differences = other.hello.differences(names.name(rank), hello, names.name(number));
        if (!differences.isEmpty()) {
          String words = names.all() + " were not started alike: " + differences;
          if (joined < size) {
            fail(number, words);
          }
          return Frame.failed(number, words);
        }
        break;
      }
    }
    if (hello.size() != size || number >= size) {
      return Frame.failed(
          number, "rank %d of %d cannot join a run of %d".formatted(number, hello.size(), size));
    }
    if (members[number] != null) {
      return Frame.failed(number, "there is a rank %d already".formatted(number));
    }
    Member member = new Member(number, hello, sink);
    members[number] = member;
    joined++;
    notifyAll();
    return member;
  }

  /**
   * Takes what a rank says.
   *
   * @return whether it may say more
   * @throws IllegalArgumentException if it may not say that
   */
  synchronized boolean take(Member member, Frame frame) {
    if (!member.isLeft()) {
      // Whoever started it has said that it ended.
      return false;
    }
    switch (frame.type()) {
      case PART -> gather(member, frame.payload());
      case MISSING -> member.send(new Frame(Frame.Type.MISSING, 0, missing(frame.rank() != 0)));
      case SHRINK -> {
        if (joined < size) {
          throw new IllegalArgumentException("it goes on before all have joined");
        }
        member.shrinks = true;
      }
      case STORE -> store.take(member, frame.payload());
      case FAILED -> {
        leave(member);
        fail(member.number, frame.words());
      }
      case DONE -> leave(member);
      case HELLO, ALL, SHRUNK, CHALLENGE, WELCOME, STORED, ABSENT ->
          throw new IllegalArgumentException("unexpected " + frame.type());
    }
    failIfNeverAll();
    shrinkIfAll();
    notifyAll();
    return !member.isDone;
  }

  private void leave(Member member) {
    member.isDone = true;
    store.forget(member);
  }

  private void gather(Member member, byte[] part) {
    if (failure != null) {
      // Nobody waits for it any more.
      return;
    }
    if (member.part != null) {
      throw new IllegalArgumentException("it sent two messages in one gathering");
    }
    member.part = part;
    if (++gathered == current.length) {
      giveAll();
    }
  }

  private void giveAll() {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (@Nullable Member member : current) {
      byte[] part = Objects.requireNonNull(Objects.requireNonNull(member).part);
      member.part = null;
      all.writeBytes(ByteBuffer.allocate(Integer.BYTES).putInt(part.length).array());
      all.writeBytes(part);
    }
    gathered = 0;
    broadcast(new Frame(Frame.Type.ALL, 0, all.toByteArray()));
  }

  /** Numbers of those who have not told their part, or have not asked to go on. */
  private byte[] missing(boolean shrink) {
    ByteBuffer numbers = ByteBuffer.allocate(current.length * Integer.BYTES);
    for (int number = 0; number < current.length; number++) {
      Member member = current[number];
      if (member == null || (member.isLeft() && (shrink ? !member.shrinks : member.part == null))) {
        numbers.putInt(number);
      }
    }
    return Arrays.copyOf(numbers.array(), numbers.position());
  }

  private void failIfNeverAll() {
    if (gathered > 0) {
      for (@Nullable Member member : current) {
        if (member != null && member.isDone) {
          fail(member.number, "it ended while others still wait for it");
        }
      }
    }
  }

  private void shrinkIfAll() {
    List<Member> left = new ArrayList<>();
    for (@Nullable Member member : current) {
      if (member != null && member.isLeft()) {
        if (!member.shrinks) {
          return;
        }
        left.add(member);
      }
    }
    if (left.isEmpty()) {
      return;
    }
    current = left.toArray(new @Nullable Member[0]);
    gathered = 0;
    failure = null;
    byte[] rest = ByteBuffer.allocate(Integer.BYTES).putInt(left.size()).array();
    for (int number = 0; number < current.length; number++) {
      Member member = left.get(number);
      member.number = number;
      member.part = null;
      member.shrinks = false;
      member.send(new Frame(Frame.Type.SHRUNK, number, rest));
    }
  }

  /**
   * Tells every rank that one is lost, unless it has left.
   *
   * @param rank its first number
   */
  synchronized void lost(int rank, String words) {
    Member member = members[rank];
    if (member == null) {
      fail(rank, words);
    } else {
      lost(member, words);
    }
  }

  /** The same of a rank that had joined. */
  synchronized void lost(Member member, String words) {
    if (member.isLeft() && !closed) {
      member.isLost = true;
      store.forget(member);
      fail(member.number, words);
      shrinkIfAll();
      notifyAll();
    }
  }

  /** Tells every rank that not all of them can join. */
  synchronized void cannotJoin(String words) {
    if (!closed && joined < size) {
      fail(firstMissing(), words);
    }
  }

  private void fail(int number, String words) {
    fail(Frame.failed(number, words));
  }

  private void fail(Frame frame) {
    if (failure == null) {
      failure = frame;
      broadcast(frame);
      notifyAll();
    }
  }

  private void broadcast(Frame frame) {
    for (@Nullable Member member : current) {
      if (member != null) {
        member.send(frame);
      }
    }
  }

  /** Waits until all have joined, or tells them that not all came. */
  synchronized void awaitAll(long withinNanos) {
    long deadline = System.nanoTime() + withinNanos;
    while (joined < size && !closed && failure == null) {
      if (!waitUntil(deadline)) {
        List<Integer> missing =
            IntStream.range(0, size).filter(rank -> members[rank] == null).boxed().toList();
        long seconds = TimeUnit.NANOSECONDS.toSeconds(withinNanos);
        String words =
            size == 2
                ? "it did not come within %d s: %s"
                    .formatted(seconds, names.remedy(1 - missing.getFirst()))
                : "of %d ranks, these did not come within %d s: %s"
                    .formatted(
                        size,
                        seconds,
                        missing.stream().map(String::valueOf).collect(Collectors.joining(", ")));
        fail(Frame.absent(missing, words));
      }
    }
  }

  private int firstMissing() {
    return Math.max(0, Arrays.asList(members).indexOf(null));
  }

  /** Waits until all that joined have left, or a rank is lost, or the deadline has come. */
  synchronized void close(long deadline) {
    while (isAnyoneLeft() && failure == null && waitUntil(deadline)) {
      // The loop's condition does everything.
    }
    closed = true;
    notifyAll();
  }

  private boolean isAnyoneLeft() {
    return Arrays.stream(members).anyMatch(member -> member != null && member.isLeft());
  }

  /** Waits for a change; returns false after the deadline. */
  private boolean waitUntil(long deadline) {
    long left = deadline - System.nanoTime();
    if (left <= 0) {
      return false;
    }
    try {
      TimeUnit.NANOSECONDS.timedWait(this, left);
      return true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}

package org.jofi.ranks;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The ranks of a generation, as one of them sees them. */
final class JoinedRanks implements Ranks {
  /** How long to wait for the names of those that are missing, once a wait was in vain. */
  private static final Duration NAMED_WITHIN = Duration.ofSeconds(2);

  /**
   * Why these ranks are over.
   *
   * @param rank which one is lost, or -1
   * @param missing those that never came; empty if one is lost
   */
  private record Loss(int rank, List<Integer> missing, String words) {}

  private final Bootstrap bootstrap;
  private final int rank;
  private final int size;
  private final Store store;
  private volatile @Nullable Loss loss;
  private @Nullable List<byte[]> gathered;
  private @Nullable List<Integer> missing;
  private @Nullable JoinedRanks rest;
  private boolean shrinks;

  JoinedRanks(Bootstrap bootstrap, int rank, int size) {
    this.bootstrap = bootstrap;
    this.rank = rank;
    this.size = size;
    this.store = new RankStore(this, bootstrap.calls(), bootstrap.patience());
  }

  @Override
  public int rank() {
    return rank;
  }

  @Override
  public int size() {
    return size;
  }

  @Override
  public int localRank() {
    return bootstrap.localRank();
  }

  @Override
  public Store store() {
    return store;
  }

  @Override
  public String name(int other) {
    return bootstrap.names().name(other, rank);
  }

  @Override
  public void tell(byte[] mine) {
    if (mine.length > Frame.MAX_PAYLOAD_BYTES / size - Integer.BYTES) {
      throw new IllegalArgumentException(
          "%d bytes of each of %d ranks are too many".formatted(mine.length, size));
    }
    check();
    synchronized (this) {
      if (shrinks) {
        throw new IllegalStateException("others go on without these ranks: use what shrink gave");
      }
    }
    checkIsIn();
    send(new Frame(Frame.Type.PART, rank, mine.clone()));
  }

  void send(Frame frame) {
    bootstrap.send(frame);
  }

  /** Throws if a rank is lost, or the server is. */
  void checkAll() {
    check();
    String end = bootstrap.serverLost();
    if (end != null) {
      throw new RankLostException(-1, end);
    }
  }

  /** Throws if this rank has left. */
  void checkIsIn() {
    if (bootstrap.hasLeft()) {
      throw new IllegalStateException(name(rank) + " has left");
    }
  }

  @Override
  public synchronized @Nullable List<byte[]> told() {
    List<byte[]> all = gathered;
    if (all == null) {
      check();
    }
    gathered = null;
    return all;
  }

  @Override
  public List<byte[]> gather(byte[] mine, Duration timeout) {
    tell(mine);
    long deadline = Timeout.deadline(timeout);
    if (await(() -> gathered != null || loss != null, deadline)) {
      List<byte[]> all = told();
      if (all != null) {
        return all;
      }
    }
    List<Integer> silent = missing(false);
    List<byte[]> late = told();
    if (late != null) {
      return late;
    }
    throw new RankTimeoutException(
        silent,
        "%s waited %s for messages of %s"
            .formatted(name(rank), Timeout.words(timeout), all(silent)));
  }

  @Override
  public void check() {
    Loss lost = loss;
    if (lost != null) {
      throw lost.missing.isEmpty()
          ? new RankLostException(lost.rank, lost.words)
          : new RankTimeoutException(lost.missing, lost.words);
    }
  }

  @Override
  public Ranks shrink(Duration timeout) {
    checkIsIn();
    long deadline = Timeout.deadline(timeout);
    boolean asks;
    synchronized (this) {
      asks = !shrinks;
      shrinks = true;
    }
    if (asks) {
      bootstrap.send(Frame.of(Frame.Type.SHRINK, rank));
    }
    await(() -> rest != null || bootstrap.serverLost() != null, deadline);
    List<Integer> silent =
        rest() == null && bootstrap.serverLost() == null ? missing(true) : List.of();
    Ranks left = rest();
    if (left != null) {
      return left;
    }
    String end = bootstrap.serverLost();
    if (end != null) {
      throw new RankLostException(-1, end);
    }
    throw new RankTimeoutException(
        silent,
        "%s waited %s to go on with %s, who did not ask for it"
            .formatted(name(rank), Timeout.words(timeout), all(silent)));
  }

  private synchronized @Nullable Ranks rest() {
    return rest;
  }

  @Override
  public void fail(String why) {
    bootstrap.leave(Frame.failed(rank, why));
  }

  @Override
  public void close() {
    bootstrap.leave(Frame.of(Frame.Type.DONE, rank));
  }

  /** Waits until something is so; returns false if it is not by the deadline. */
  private synchronized boolean await(BooleanSupplier holds, long deadline) {
    while (!holds.getAsBoolean()) {
      long left = deadline - System.nanoTime();
      if (left <= 0) {
        return false;
      }
      try {
        TimeUnit.NANOSECONDS.timedWait(this, left);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new RanksException(name(rank) + " was interrupted", e);
      }
    }
    return true;
  }

  /** Asks the server whom the others wait for; empty if it says nothing, or there is no more. */
  private List<Integer> missing(boolean shrink) {
    synchronized (this) {
      missing = null;
    }
    bootstrap.send(Frame.of(Frame.Type.MISSING, shrink ? 1 : 0));
    await(
        () -> missing != null || rest != null || (loss != null && !shrink),
        Timeout.deadline(NAMED_WITHIN));
    synchronized (this) {
      return missing == null ? List.of() : missing;
    }
  }

  private String all(List<Integer> ranks) {
    return ranks.isEmpty()
        ? "the others"
        : ranks.stream().map(this::name).collect(Collectors.joining(", "));
  }

  /** Takes what the server says. */
  synchronized void receive(Frame frame) {
    switch (frame.type()) {
      case ALL -> gathered = split(frame.payload());
      case FAILED ->
          lose(frame.rank(), "%s failed: %s".formatted(name(frame.rank()), frame.words()));
      case ABSENT -> {
        RankTimeoutException absence = frame.absence(name(frame.rank()));
        end(new Loss(frame.rank(), absence.missing(), String.valueOf(absence.getMessage())));
      }
      case MISSING -> missing = numbers(frame.payload());
      case HELLO, PART, DONE, SHRINK, SHRUNK, CHALLENGE, WELCOME, STORE, STORED ->
          throw new IllegalArgumentException("unexpected " + frame.type());
    }
    notifyAll();
  }

  /** There is no generation of these ranks any more. */
  synchronized void lose(int lost, String words) {
    end(new Loss(lost, List.of(), words));
  }

  private synchronized void end(Loss why) {
    if (loss == null && !bootstrap.hasLeft()) {
      loss = why;
      bootstrap.calls().endAll(this);
    }
    notifyAll();
  }

  /** Those that are left go on. */
  synchronized void goOn(JoinedRanks others) {
    rest = others;
    notifyAll();
  }

  private static List<Integer> numbers(byte[] payload) {
    ByteBuffer in = ByteBuffer.wrap(payload);
    List<Integer> all = new ArrayList<>();
    while (in.remaining() >= Integer.BYTES) {
      all.add(in.getInt());
    }
    return all;
  }

  private List<byte[]> split(byte[] payload) {
    ByteBuffer in = ByteBuffer.wrap(payload);
    List<byte[]> all = new ArrayList<>(size);
    for (int i = 0; i < size; i++) {
      int length = in.remaining() < Integer.BYTES ? -1 : in.getInt();
      if (length < 0 || length > in.remaining()) {
        throw new IllegalArgumentException("what %d ranks told ends early".formatted(size));
      }
      byte[] part = new byte[length];
      in.get(part);
      all.add(part);
    }
    return all;
  }
}

package org.jofi.collectives;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.jofi.collectives.schedule.Algorithm;
import org.jofi.collectives.schedule.Algorithms;
import org.jofi.collectives.schedule.Operation;
import org.jofi.collectives.schedule.Schedule;
import org.jofi.collectives.schedule.Steps;
import org.jofi.ranks.RankLostException;
import org.jofi.ranks.Ranks;
import org.jofi.transport.Device;
import org.jofi.transport.FailureCause;
import org.jofi.transport.Memory;
import org.jofi.transport.TransportException;
import org.jofi.transport.diagnostics.Log;
import org.jspecify.annotations.Nullable;

/**
 * Ranks that call collective operations together, over a device. All of them call the same
 * operations in the same order; see {@link Collective}. Connections are made when an operation
 * first needs them, and all rails of the device are used.
 *
 * <p>For one thread at a time. An operation that fails ends the group: ranks may be in any part of
 * it. Those that are left may go on in a new one, {@link #shrink}. Several groups may use a device.
 *
 * <p>Memory that is passed must stay until the operation is over, and after a failure until the
 * group is closed; memory of {@link org.jofi.transport.Transport#openArena} sees to that by itself.
 */
public final class Group implements AutoCloseable {
  private static final Log LOG = new Log(Log.Name.RANKS);

  /** Programs that are kept for the next operation of the same kind and lengths. */
  private static final int KEPT = 64;

  private static final long ALIGNMENT = 64;
  private static final Algorithm ALONE = new Alone();

  private final Members members;
  private final Device device;
  private final GroupOptions options;
  private final Peers peers;
  private final Waiting waiting;
  private final LinkedHashMap<Key, Program> kept = new LinkedHashMap<>(KEPT, 0.75f, true);
  private MemorySegment copies = MemorySegment.NULL;
  private int runs;
  private int splits;
  private @Nullable Gpu gpu;
  private @Nullable Throwable failure;
  private boolean closed;

  /** What operations have in common that run the same program. */
  private record Key(
      Collective collective, String algorithm, boolean isOnGpu, @Nullable Long inputInOutput) {}

  private Group(Members members, Device device, GroupOptions options) {
    this.members = members;
    this.device = device;
    this.options = options;
    peers = new Peers(members, device);
    waiting = new Waiting(members, options.timeout());
  }

  /**
   * {@return a group of all ranks} All of them call this; it does not connect them yet.
   *
   * @param ranks the ranks; stay open, and longer than the group
   * @param device what they are connected over; stays open
   */
  public static Group connect(Ranks ranks, Device device) {
    return connect(ranks, device, GroupOptions.defaults());
  }

  /**
   * {@return a group of all ranks} All of them call this; it does not connect them yet.
   *
   * @param ranks the ranks; stay open, and longer than the group
   * @param device what they are connected over; stays open
   * @param options how it works; the chunk is the same on all ranks
   * @throws MismatchException if it is not
   * @throws RankLostException if a rank is lost
   * @throws org.jofi.ranks.RankTimeoutException if a rank does not call this in time
   */
  public static Group connect(Ranks ranks, Device device, GroupOptions options) {
    long number = ranks.rank() == 0 ? ranks.store().add("jofi.groups", 1) : 0;
    ByteBuffer mine = ByteBuffer.allocate(Long.BYTES + Integer.BYTES);
    mine.putLong(number).putInt(options.chunkBytes());
    List<byte[]> all = ranks.gather(mine.array(), options.timeout());
    for (int rank = 0; rank < all.size(); rank++) {
      int chunk = ByteBuffer.wrap(all.get(rank)).getInt(Long.BYTES);
      if (chunk != options.chunkBytes()) {
        throw new MismatchException(
            "ranks do not do the same: %s has chunks of %d bytes, %s of %d"
                .formatted(ranks.name(), options.chunkBytes(), ranks.name(rank), chunk));
      }
    }
    String name = "jofi.group/" + ByteBuffer.wrap(all.getFirst()).getLong();
    List<Integer> world = IntStream.range(0, ranks.size()).boxed().toList();
    return new Group(new Members(ranks, world, ranks.rank(), name), device, options);
  }

  /** {@return the number of this rank in the group, 0 to {@link #size} - 1} */
  public int rank() {
    return members.rank();
  }

  /** {@return how many ranks the group has} */
  public int size() {
    return members.size();
  }

  /** {@return the ranks of the run that it is connected of, in the order of the group} */
  public List<Integer> members() {
    return members.world();
  }

  /** {@return the device that it is connected over} */
  public Device device() {
    return device;
  }

  /** {@return whether no operation failed, and it is not closed} */
  public boolean isUsable() {
    return failure == null && !closed;
  }

  /**
   * {@return a plan of an operation, for this memory}
   *
   * @param collective the operation
   * @param input native memory with the input; may be {@link MemorySegment#NULL} where there is
   *     none
   * @param output native memory for the output; likewise
   * @throws IllegalArgumentException if memory is too short, not native, or shared in another way
   *     than {@link Collective} says
   */
  public Plan plan(Collective collective, MemorySegment input, MemorySegment output) {
    return plan(collective, "", input, output);
  }

  /**
   * {@return a plan of an operation by a certain algorithm}
   *
   * @param collective the operation
   * @param algorithm its name, the same on all ranks; empty for the one that is fastest. In a group
   *     of one rank it does not matter
   * @param input as above
   * @param output as above
   * @throws IllegalArgumentException as above, and if there is no such algorithm for the operation
   */
  public Plan plan(
      Collective collective, String algorithm, MemorySegment input, MemorySegment output) {
    return plan(collective, algorithm, Operand.of(input), Operand.of(output));
  }

  /**
   * {@return a plan of an operation, for memory of a GPU} It is registered with each connection
   * that uses it until the plan is closed. Moving works for every type, and reducing for sums of
   * {@link DataType#F32}, which the GPU forms. The calling thread waits for what the GPU does.
   * Other ranks may have their memory elsewhere.
   *
   * @param collective the operation
   * @param algorithm as above; empty for the one that is fastest
   * @param input memory of a GPU, all operations of a group of the same one. Any where there is no
   *     input
   * @param output likewise
   * @throws IllegalArgumentException as above, and for what a GPU does not do
   * @throws TransportException if the device takes no memory of GPUs, there is no such GPU, or the
   *     memory cannot be registered
   * @throws org.jofi.fabric.FabricException if the GPU has no memory left for it
   */
  public Plan plan(Collective collective, String algorithm, Memory input, Memory output) {
    return plan(collective, algorithm, Operand.of(input), Operand.of(output));
  }

  private Plan plan(Collective collective, String algorithm, Operand input, Operand output) {
    Key key = key(collective, algorithm, input, output);
    Algorithms.Choice choice = choice(collective, algorithm);
    waiting.begin("a plan of " + words(collective, choice), collective.operation());
    Program program = program(key, choice);
    take(program, input, output);
    return new Plan(this, program);
  }

  /**
   * Runs an operation, and waits until it is over. What it needs is kept for the next one that is
   * alike.
   *
   * @param collective the operation
   * @param input as for {@link #plan(Collective, MemorySegment, MemorySegment)}
   * @param output likewise
   * @throws MismatchException if another rank does something else
   * @throws RankLostException if a rank is lost
   * @throws org.jofi.ranks.RanksException if the ranks' server does not answer
   * @throws TransportException if a message failed, or nothing happened within the time limit
   * @throws IllegalArgumentException if memory does not suit the operation
   * @throws IllegalStateException if the group failed before, or is closed
   */
  public void run(Collective collective, MemorySegment input, MemorySegment output) {
    run(collective, Operand.of(input), Operand.of(output));
  }

  /**
   * Runs an operation on memory of a GPU, and waits until it is over.
   *
   * @param collective the operation
   * @param input as for {@link #plan(Collective, String, Memory, Memory)}
   * @param output likewise
   * @throws RuntimeException as {@link #run(Collective, MemorySegment, MemorySegment)} and the plan
   *     of it
   */
  public void run(Collective collective, Memory input, Memory output) {
    run(collective, Operand.of(input), Operand.of(output));
  }

  private void run(Collective collective, Operand input, Operand output) {
    Key key = key(collective, "", input, output);
    checkUsable();
    Program program = kept.get(key);
    // A rank may find a program that another one has to make: both count the same.
    if (program != null) {
      waiting.begin(program.words(), program.collective().operation());
    } else {
      Algorithms.Choice choice = choice(collective, "");
      waiting.begin(words(collective, choice), collective.operation());
      program = program(key, choice);
      kept.put(key, program);
      if (kept.size() > KEPT) {
        kept.pollFirstEntry().getValue().close();
      }
    }
    take(program, input, output);
    program.start(nextTag(program));
    while (!poll(program)) {
      // A poll waits by itself.
    }
    program.release();
  }

  /**
   * Reduces an array over all ranks, in place: {@link Collective#allReduce} of what is in it.
   *
   * @param array native memory whose elements are of the type
   * @param type of the elements
   * @param reduction how they are reduced
   */
  public void allReduce(MemorySegment array, DataType type, Reduction reduction) {
    long count = array.byteSize() / type.bytes();
    run(Collective.allReduce(type, reduction, count), array, array);
  }

  /**
   * Reduces an array over all ranks, in place. Its elements are copied to native memory and back.
   *
   * @param array the elements
   * @param reduction how they are reduced
   */
  public void allReduce(float[] array, Reduction reduction) {
    MemorySegment copy = copy(MemorySegment.ofArray(array));
    run(Collective.allReduce(DataType.F32, reduction, array.length), copy, copy);
    MemorySegment.copy(copy, ValueLayout.JAVA_FLOAT, 0, array, 0, array.length);
  }

  /**
   * Reduces an array over all ranks, in place. Its elements are copied to native memory and back.
   *
   * @param array the elements
   * @param reduction how they are reduced
   */
  public void allReduce(double[] array, Reduction reduction) {
    MemorySegment copy = copy(MemorySegment.ofArray(array));
    run(Collective.allReduce(DataType.F64, reduction, array.length), copy, copy);
    MemorySegment.copy(copy, ValueLayout.JAVA_DOUBLE, 0, array, 0, array.length);
  }

  /**
   * Reduces an array over all ranks, in place. Its elements are copied to native memory and back.
   *
   * @param array the elements
   * @param reduction how they are reduced
   */
  public void allReduce(int[] array, Reduction reduction) {
    MemorySegment copy = copy(MemorySegment.ofArray(array));
    run(Collective.allReduce(DataType.I32, reduction, array.length), copy, copy);
    MemorySegment.copy(copy, ValueLayout.JAVA_INT, 0, array, 0, array.length);
  }

  /**
   * Reduces an array over all ranks, in place. Its elements are copied to native memory and back.
   *
   * @param array the elements
   * @param reduction how they are reduced
   */
  public void allReduce(long[] array, Reduction reduction) {
    MemorySegment copy = copy(MemorySegment.ofArray(array));
    run(Collective.allReduce(DataType.I64, reduction, array.length), copy, copy);
    MemorySegment.copy(copy, ValueLayout.JAVA_LONG, 0, array, 0, array.length);
  }

  /** Waits until all ranks have called this. */
  public void barrier() {
    run(Collective.barrier(), MemorySegment.NULL, MemorySegment.NULL);
  }

  private MemorySegment copy(MemorySegment array) {
    if (copies.byteSize() < array.byteSize()) {
      copies = Arena.ofAuto().allocate(array.byteSize(), ALIGNMENT);
    }
    MemorySegment copy = copies.asSlice(0, array.byteSize());
    return copy.copyFrom(array);
  }

  /**
   * {@return the group of the ranks that name the same color; empty for a rank whose color is
   * negative} All ranks of this group call it. This one can still be used.
   *
   * @param color which group this rank joins; negative for none
   * @param key the order of ranks in their group; those with the same have the order of this one
   */
  public Optional<Group> split(int color, int key) {
    MemorySegment all = Arena.ofAuto().allocate(2L * Integer.BYTES * size(), ALIGNMENT);
    MemorySegment mine = all.asSlice(2L * Integer.BYTES * rank(), 2L * Integer.BYTES);
    mine.setAtIndex(ValueLayout.JAVA_INT, 0, color);
    mine.setAtIndex(ValueLayout.JAVA_INT, 1, key);
    run(Collective.allGather(DataType.I32, 2), mine, all);
    int number = splits++;
    if (color < 0) {
      return Optional.empty();
    }
    List<Integer> chosen = new ArrayList<>();
    for (int rank = 0; rank < size(); rank++) {
      if (all.getAtIndex(ValueLayout.JAVA_INT, 2L * rank) == color) {
        chosen.add(rank);
      }
    }
    chosen.sort(
        Comparator.comparingInt(rank -> all.getAtIndex(ValueLayout.JAVA_INT, 2L * rank + 1)));
    List<Integer> world = chosen.stream().map(members.world()::get).toList();
    String name = "%s/%d:%d".formatted(members.name(), number, color);
    return Optional.of(
        new Group(
            new Members(members.ranks(), world, chosen.indexOf(rank()), name), device, options));
  }

  /**
   * {@return a group of the ranks of the run that are left after some were lost} All that are left
   * call this; this group is aborted, which takes up to {@link
   * org.jofi.transport.TransportOptions#closeTimeout} for each connection to a rank that is gone.
   * Over some providers, operations that were under way with it stay with the NIC until the
   * transport is closed: their memory has to stay as long.
   *
   * @param timeout how long to wait for the others that are left
   * @throws RankLostException if there is no going on, or another rank is lost meanwhile
   */
  public Shrunk shrink(Duration timeout) {
    try {
      abort();
    } catch (TransportException late) {
      // What was under way with a rank that is gone may stay with the NIC. The transport keeps the
      // memory of it from the collector; those that are left need not wait for that.
      LOG.log(System.Logger.Level.INFO, "a connection of the group before did not end", late);
    }
    Ranks left = members.ranks().shrink(timeout);
    return new Shrunk(left, connect(left, device, options));
  }

  /**
   * What goes on after ranks were lost.
   *
   * @param ranks those that are left; to be closed after the group
   * @param group of all of them
   */
  public record Shrunk(Ranks ranks, Group group) implements AutoCloseable {
    @Override
    public void close() {
      group.close();
      ranks.close();
    }
  }

  private Key key(Collective collective, String algorithm, Operand input, Operand output) {
    Long inputInOutput = Operands.check(collective, rank(), size(), input, output);
    if (input.isOnGpu()) {
      checkGpu(input.gpu());
      checkGpu(output.gpu());
    }
    return new Key(collective, algorithm, input.isOnGpu(), inputInOutput);
  }

  private void checkGpu(Memory memory) {
    if (!device.properties().takes(memory.kind())) {
      throw new TransportException(
          FailureCause.UNAVAILABLE, "%s takes no %s memory".formatted(device, memory.kind()));
    }
    Gpu known = gpu;
    if (known == null) {
      gpu = Gpu.of(memory, options.gpu());
    } else {
      known.check(memory);
    }
  }

  private void take(Program program, Operand input, Operand output) {
    try {
      program.take(input, output);
    } catch (RuntimeException | Error why) {
      failure = why;
      throw why;
    }
  }

  private Program program(Key key, Algorithms.Choice choice) {
    checkUsable();
    Collective collective = key.collective();
    Long inputInOutput = key.inputInOutput();
    Steps steps =
        inputInOutput == null
            ? new Steps(rank(), size())
            : Steps.sharing(rank(), size(), inputInOutput);
    long chunk = Math.max(1, options.chunkBytes() / collective.type().bytes());
    try {
      choice.algorithm().write(steps, collective.operation(), chunk);
      Schedule schedule = steps.schedule();
      peers.connect(schedule, waiting);
      return new Program(
          collective,
          choice,
          words(collective, choice),
          schedule,
          members,
          peers,
          options.window(),
          key.isOnGpu() ? gpu : null);
    } catch (TransportException broken) {
      RuntimeException why = waiting.reason(broken, "connecting");
      failure = why;
      throw why;
    } catch (RuntimeException | Error other) {
      failure = other;
      throw other;
    }
  }

  private static String words(Collective collective, Algorithms.Choice choice) {
    return collective + " by " + choice.algorithm().name();
  }

  /**
   * The tag of a run. Ranks start in the same order, so that runs of operations that are alike have
   * the same; those of others do not meet, and a call that does not match moves no bytes.
   */
  private int nextTag(Program program) {
    return program.words().hashCode() * 31 + runs++;
  }

  private Algorithms.Choice choice(Collective collective, String name) {
    Operation operation = collective.operation();
    if (size() == 1) {
      return new Algorithms.Choice(ALONE, "there is one rank");
    }
    if (!name.isEmpty()) {
      return new Algorithms.Choice(
          Algorithms.named(operation, size(), name), "the caller asked for it");
    }
    return Algorithms.choose(operation, size(), collective.type().bytes());
  }

  void start(Program program) {
    checkUsable();
    waiting.begin(program.words(), program.collective().operation());
    program.start(nextTag(program));
  }

  boolean poll(Program program) {
    checkUsable();
    try {
      if (program.isOver()) {
        return true;
      }
      if (program.advance(waiting)) {
        waiting.progressed();
        return program.isOver();
      }
      waiting.idle();
      return false;
    } catch (RuntimeException | Error why) {
      failure = why;
      throw why;
    }
  }

  private void checkUsable() {
    if (closed) {
      throw new IllegalStateException("the group is closed");
    }
    if (failure != null) {
      throw new IllegalStateException(
          "the group failed: " + failure.getMessage() + "; go on in a new one", failure);
    }
  }

  /**
   * Closes its connections; if an operation failed, aborts them. The device and the ranks stay
   * open. A second call does nothing.
   */
  @Override
  public void close() {
    if (failure != null) {
      abort();
    } else if (!closed) {
      closed = true;
      kept.clear();
      members.forget();
      peers.close();
      closeGpu();
    }
  }

  /** Ends its connections without waiting for other ranks. A second call does nothing. */
  public void abort() {
    if (!closed) {
      closed = true;
      kept.clear();
      // What this rank said stays: others may still want to know why.
      peers.abort();
      closeGpu();
    }
  }

  /** Where a connection did not end, a NIC may still write to the GPU: its memory stays. */
  private void closeGpu() {
    if (gpu != null) {
      gpu.close();
    }
  }
}

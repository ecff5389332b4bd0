package org.jofi.collectives;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.jofi.collectives.schedule.Algorithms;
import org.jofi.collectives.schedule.Hosts;
import org.jofi.ranks.RankLostException;
import org.jofi.ranks.Ranks;
import org.jofi.transport.Device;
import org.jofi.transport.Memory;
import org.jofi.transport.RailStatus;
import org.jofi.transport.TransportException;
import org.jofi.transport.diagnostics.Log;
import org.jspecify.annotations.Nullable;

/**
 * Ranks that call collective operations together, over a device, or over two: one within a host,
 * one between hosts. All of them call the same operations in the same order; see {@link
 * Collective}. Connections are made when an operation first needs them, and all rails of the device
 * are used.
 *
 * <p>For one thread at a time. An operation that fails ends the group: ranks may be in any part of
 * it. Those that are left may go on in a new one, {@link #shrink}. Several groups may use a device.
 *
 * <p>Memory that is passed must stay until the operation is over, and after a failure until the
 * group is closed; memory of {@link org.jofi.transport.Transport#openArena} sees to that by itself.
 */
public final class Group implements AutoCloseable {
  private static final Log LOG = new Log(Log.Name.RANKS);

  private static final long ALIGNMENT = 64;

  private final Members members;
  private final Routes routes;
  private final GroupOptions options;
  private final Peers peers;
  private final Waiting waiting;
  private final Programs programs;
  private final GroupGpu gpu;
  private MemorySegment copies = MemorySegment.NULL;
  private int runs;
  private int splits;
  private @Nullable Throwable failure;
  private boolean closed;

  private Group(Members members, Routes routes, GroupOptions options) {
    this.members = members;
    this.routes = routes;
    this.options = options;
    peers = new Peers(members, routes);
    waiting = new Waiting(members, options.timeout());
    programs = new Programs(members, routes.hosts(), peers, waiting, options);
    gpu = new GroupGpu(routes, options.gpu());
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
   * @throws MismatchException if it is not, or another rank has two devices
   * @throws RankLostException if a rank is lost
   * @throws org.jofi.ranks.RankTimeoutException if a rank does not call this in time
   */
  public static Group connect(Ranks ranks, Device device, GroupOptions options) {
    return connect(ranks, device, null, options);
  }

  /**
   * {@return a group of all ranks, connected over one device within a host and another one between
   * hosts} All of them call this; it does not connect them yet.
   *
   * @param ranks the ranks; stay open, and longer than the group
   * @param levels the devices, and this rank's host
   * @param options how it works; the chunk is the same on all ranks
   * @throws MismatchException if it is not, another rank has one device, or ranks of one host have
   *     devices of different providers for it
   * @throws RankLostException if a rank is lost
   * @throws org.jofi.ranks.RankTimeoutException if a rank does not call this in time
   */
  public static Group connect(Ranks ranks, Levels levels, GroupOptions options) {
    return connect(ranks, levels.network(), levels, options);
  }

  private static Group connect(
      Ranks ranks, Device network, @Nullable Levels levels, GroupOptions options) {
    long number = ranks.rank() == 0 ? ranks.store().add("jofi.groups", 1) : 0;
    List<Greeting> greetings =
        Greeting.of(number, options.chunkBytes(), levels).exchange(ranks, options);
    Routes routes = Routes.of(network, levels, greetings, ranks.rank());
    String name = "jofi.group/" + greetings.getFirst().number();
    List<Integer> world = IntStream.range(0, ranks.size()).boxed().toList();
    return new Group(new Members(ranks, world, ranks.rank(), name), routes, options);
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

  /** {@return the device that it is connected over; of two the one between hosts} */
  public Device device() {
    return routes.network();
  }

  /**
   * {@return the device over which this rank is connected to another one, or will be}
   *
   * @param other the other's number in the group
   */
  public Device device(int other) {
    return routes.to(other);
  }

  /**
   * {@return the rails over which this rank sends to another one, and what they carried; empty as
   * long as no operation needed a connection to it}
   *
   * @param other the other's number in the group
   */
  public List<RailStatus> railsTo(int other) {
    return peers.railsTo(other);
  }

  /**
   * {@return the rails over which this rank receives from another one; empty as long as no
   * operation needed a connection from it}
   *
   * @param other the other's number in the group
   */
  public List<RailStatus> railsFrom(int other) {
    return peers.railsFrom(other);
  }

  /**
   * {@return which ranks of the group share a host; each has a host of its own if the group has one
   * device, which need not know}
   */
  public Hosts hosts() {
    return routes.hosts();
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
    Programs.Key key = key(collective, algorithm, input, output);
    Algorithms.Choice choice = programs.choice(key);
    try {
      Program program = programs.make(key, choice, "a plan of ");
      program.take(input, output);
      return new Plan(this, program);
    } catch (RuntimeException | Error why) {
      failure = why;
      throw why;
    }
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
    Programs.Key key = key(collective, "", input, output);
    Program program;
    try {
      program = programs.get(key);
      program.take(input, output);
    } catch (RuntimeException | Error why) {
      failure = why;
      throw why;
    }
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
    int mineThere = chosen.indexOf(rank());
    return Optional.of(
        new Group(
            new Members(members.ranks(), world, mineThere, name),
            routes.among(chosen, mineThere),
            options));
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
    return new Shrunk(left, connect(left, routes.network(), routes.levels(), options));
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

  private Programs.Key key(Collective collective, String algorithm, Operand input, Operand output) {
    Long inputInOutput = Operands.check(collective, rank(), size(), input, output);
    checkUsable();
    return new Programs.Key(collective, algorithm, gpu.of(input, output), inputInOutput);
  }

  /**
   * The tag of a run. Ranks start in the same order, so that runs of operations that are alike have
   * the same; those of others do not meet, and a call that does not match moves no bytes.
   */
  private int nextTag(Program program) {
    return program.words().hashCode() * 31 + runs++;
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
      peers.progress(waiting);
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
      programs.clear();
      members.forget();
      peers.close();
      gpu.close();
    }
  }

  /** Ends its connections without waiting for other ranks. A second call does nothing. */
  public void abort() {
    if (!closed) {
      closed = true;
      programs.clear();
      // What this rank said stays: others may still want to know why.
      peers.abort();
      // Not if a connection did not end: a NIC may still write to the GPU's memory.
      gpu.close();
    }
  }
}

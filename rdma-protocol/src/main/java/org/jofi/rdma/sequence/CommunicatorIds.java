package org.jofi.rdma.sequence;

import java.util.Arrays;
import org.agrona.collections.IntArrayQueue;
import org.jofi.rdma.wire.ProtocolLimits;

/**
 * The 32767 communicator ids of an endpoint, each use with a generation.
 *
 * <p>An id is freed once this side closed and the peer's close, or death, is known: nobody writes
 * to it then. Ids are taken least recently used first, so that whatever is late all the same finds
 * an id that is not in use. Once 4095 were used and are free, new ones are taken only when these do
 * not suffice, so that what is kept by id stays small. Generations are given out by one count of 65
 * 535: they differ from those of all uses of any id that began shortly before.
 */
public final class CommunicatorIds {
  /** {@link #take}: every id is in use. */
  public static final int NONE = 0;

  /** How many used ids are to be free before one is used again, as long as there are new ones. */
  private static final int REST = 4095;

  private static final int FEW = 64;

  private final int capacity;

  /** By id; 0 of those that are free. */
  private char[] generations = new char[FEW];

  private final IntArrayQueue rested = new IntArrayQueue();

  private int everUsed;
  private int lastGeneration;

  /**
   * @param capacity how many ids, 1 to 32767; they are 1 to that
   * @param lastGeneration the generation before the first, such as a random one, so that a process
   *     that is started again differs from the one before
   */
  public CommunicatorIds(int capacity, int lastGeneration) {
    if (capacity < 1 || capacity > ProtocolLimits.MAX_COMMUNICATOR) {
      throw new IllegalArgumentException("1 to 32767 communicator ids, not " + capacity);
    }
    this.capacity = capacity;
    this.lastGeneration = Math.floorMod(lastGeneration, ProtocolLimits.MAX_GENERATION);
  }

  /** Takes the id that was free for longest, or {@link #NONE}. */
  public int take() {
    if (available() == 0) {
      return NONE;
    }
    boolean takesNew = everUsed < capacity && rested.size() < REST;
    int id = takesNew ? ++everUsed : rested.pollInt();
    if (id >= generations.length) {
      generations = Arrays.copyOf(generations, 2 * id);
    }
    lastGeneration = lastGeneration % ProtocolLimits.MAX_GENERATION + 1;
    generations[id] = (char) lastGeneration;
    return id;
  }

  /** The generation of an id in use, 1 to 65 535; refuses others. */
  public int generation(int id) {
    if (id < 1 || id > everUsed || generations[id] == 0) {
      throw new IllegalStateException("communicator %d is not in use".formatted(id));
    }
    return generations[id];
  }

  /** Gives an id in use back that neither side uses any more. */
  public void free(int id) {
    generation(id);
    generations[id] = 0;
    rested.addInt(id);
  }

  public int available() {
    return capacity - everUsed + rested.size();
  }
}

package org.jofi.rdma.sequence;

import java.util.Arrays;
import org.jofi.rdma.wire.ProtocolLimits;

/**
 * The 32767 communicator ids of an endpoint, each use with a generation.
 *
 * <pre>
 *          take                localClosed
 *   FREE --------&gt; LIVE ---------------------&gt; CLOSED
 *    ^               | peerGone                   | peerGone
 *    |               v       localClosed          |
 *    |           PEER GONE -------------&gt; (free)  |
 *    +--------------------------------------------+
 * </pre>
 *
 * <p>An id is free again only once this side closed and the peer's close, or death, is known:
 * nobody writes to it then. Ids are taken least recently used first, so that whatever is late all
 * the same finds an id that is not in use. Once 4095 were used and are free, new ones are taken
 * only when these do not suffice, so that what is kept by id stays small. Generations are given out
 * by one count of 65 535: they differ from those of all uses of any id that began shortly before.
 */
public final class CommunicatorIds {
  /** {@link #take}: every id is in use. */
  public static final int NONE = 0;

  private static final byte FREE = 0;
  private static final byte LIVE = 1;
  private static final byte CLOSED = 2;
  private static final byte PEER_GONE = 3;

  /** How many used ids are to be free before one is used again, as long as there are new ones. */
  private static final int REST = 4095;

  private static final int FEW = 64;

  private final int capacity;
  private byte[] states = new byte[FEW];
  private char[] generations = new char[FEW];

  /** Ids that were used and are free, a ring. */
  private char[] queue = new char[FEW];

  private int head;
  private int queued;
  private int everUsed;
  private int lastGeneration;

  /** All ids. */
  public CommunicatorIds() {
    this(ProtocolLimits.MAX_COMMUNICATOR, 0);
  }

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
    int id = everUsed < capacity && queued < REST ? takeNew() : takeUsed();
    lastGeneration = lastGeneration % ProtocolLimits.MAX_GENERATION + 1;
    states[id] = LIVE;
    generations[id] = (char) lastGeneration;
    return id;
  }

  private int takeNew() {
    int id = ++everUsed;
    if (id >= states.length) {
      states = Arrays.copyOf(states, 2 * id);
      generations = Arrays.copyOf(generations, 2 * id);
    }
    return id;
  }

  private int takeUsed() {
    int id = queue[head];
    head = (head + 1) % queue.length;
    queued--;
    return id;
  }

  /** The last of those that are free. */
  private void add(int id) {
    if (queued == queue.length) {
      char[] longer = new char[2 * queued];
      System.arraycopy(queue, head, longer, 0, queued - head);
      System.arraycopy(queue, 0, longer, queued - head, head);
      queue = longer;
      head = 0;
    }
    queue[(head + queued++) % queue.length] = (char) id;
  }

  /**
   * The generation of an id in use, 1 to 65 535.
   *
   * @throws IllegalStateException if it is not in use
   */
  public int generation(int id) {
    requireUse(id);
    return generations[id];
  }

  /**
   * Whether something from the wire is for an id in use, of that generation. Any values will do.
   */
  public boolean isCurrent(int id, int generation) {
    return isUsed(id) && generations[id] == generation;
  }

  /**
   * This side closed. The id is freed if the peer is known to be gone.
   *
   * @throws IllegalStateException if it is not in use, or this side closed before
   */
  public void localClosed(int id) {
    requireUse(id);
    if (states[id] == CLOSED) {
      throw new IllegalStateException("communicator %d was closed before".formatted(id));
    }
    settle(id, states[id] == PEER_GONE, CLOSED);
  }

  /**
   * The peer closed or died. A second call does nothing while this side is open.
   *
   * @throws IllegalStateException if it is not in use
   */
  public void peerGone(int id) {
    requireUse(id);
    settle(id, states[id] == CLOSED, PEER_GONE);
  }

  /** Ids that can be taken. */
  public int available() {
    return capacity - everUsed + queued;
  }

  private void settle(int id, boolean bothDone, byte otherwise) {
    if (bothDone) {
      states[id] = FREE;
      add(id);
    } else {
      states[id] = otherwise;
    }
  }

  private boolean isUsed(int id) {
    return id >= 1 && id <= everUsed && states[id] != FREE;
  }

  private void requireUse(int id) {
    if (!isUsed(id)) {
      throw new IllegalStateException("communicator %d is not in use".formatted(id));
    }
  }
}

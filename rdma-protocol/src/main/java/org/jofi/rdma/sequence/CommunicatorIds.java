package org.jofi.rdma.sequence;

import java.util.Arrays;
import org.jofi.rdma.wire.ProtocolLimits;

/**
 * The 4095 communicator ids of an endpoint, each use with a generation.
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
 * the same finds an id that is not in use. Generations are given out by one count of 65 535: they
 * differ from those of all uses of any id that began shortly before.
 */
public final class CommunicatorIds {
  /** {@link #take}: every id is in use. */
  public static final int NONE = 0;

  private static final byte FREE = 0;
  private static final byte LIVE = 1;
  private static final byte CLOSED = 2;
  private static final byte PEER_GONE = 3;

  private final int capacity;
  private final byte[] states;
  private final char[] generations;
  private final int[] queue;
  private int head;
  private int free;
  private int lastGeneration;

  /** All ids. */
  public CommunicatorIds() {
    this(ProtocolLimits.MAX_COMMUNICATOR, 0);
  }

  /**
   * @param capacity how many ids, 1 to 4095; they are 1 to that
   * @param lastGeneration the generation before the first, such as a random one, so that a process
   *     that is started again differs from the one before
   */
  public CommunicatorIds(int capacity, int lastGeneration) {
    if (capacity < 1 || capacity > ProtocolLimits.MAX_COMMUNICATOR) {
      throw new IllegalArgumentException("1 to 4095 communicator ids, not " + capacity);
    }
    this.capacity = capacity;
    this.lastGeneration = Math.floorMod(lastGeneration, ProtocolLimits.MAX_GENERATION);
    states = new byte[capacity + 1];
    generations = new char[capacity + 1];
    queue = new int[capacity];
    Arrays.setAll(queue, index -> index + 1);
    free = capacity;
  }

  /** Takes the id that was free for longest, or {@link #NONE}. */
  public int take() {
    if (free == 0) {
      return NONE;
    }
    int id = queue[head];
    head = head + 1 == capacity ? 0 : head + 1;
    free--;
    lastGeneration = lastGeneration % ProtocolLimits.MAX_GENERATION + 1;
    states[id] = LIVE;
    generations[id] = (char) lastGeneration;
    return id;
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
    return id >= 1 && id <= capacity && states[id] != FREE && generations[id] == generation;
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
    return free;
  }

  private void settle(int id, boolean bothDone, byte otherwise) {
    if (bothDone) {
      states[id] = FREE;
      queue[(head + free) % capacity] = id;
      free++;
    } else {
      states[id] = otherwise;
    }
  }

  private void requireUse(int id) {
    if (id < 1 || id > capacity || states[id] == FREE) {
      throw new IllegalStateException("communicator %d is not in use".formatted(id));
    }
  }
}

package org.jofi.rdma.nic;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.function.LongPredicate;
import org.agrona.collections.Long2LongCounterMap;
import org.jofi.fabric.AddressVector;
import org.jofi.fabric.FabricException;
import org.jofi.rdma.wire.FabricAddress;

/**
 * The addresses that a rail posts to: of peers, and of strangers, which are senders without a
 * connection that get one answer. One that nobody uses any more is removed when {@value
 * #MOST_UNUSED} others were used later, and nothing is in flight to it. Used with the endpoint's
 * lock held.
 */
public final class InsertedAddresses {
  /** Largest number of peers at once, so that nobody can fill the memory with addresses. */
  public static final int MOST_PEERS = 1 << 16;

  /** Largest number of strangers at once. They do not count as peers. */
  public static final int MOST_STRANGERS = 64;

  /** How many are kept that nobody uses: who comes back soon is inserted already. */
  public static final int MOST_UNUSED = 64;

  private final AddressVector addresses;
  private final String label;
  private final LongPredicate isBusy;
  private final Map<FabricAddress, Entry> entries = new HashMap<>();

  /** Those that came to be unused, the oldest first; some may be used again. */
  private final ArrayDeque<Entry> unused = new ArrayDeque<>(0);

  /** How many addresses have each number: providers may give equal ones the same. */
  private final Long2LongCounterMap sharing = new Long2LongCounterMap(0);

  private int peers;
  private int strangers;
  private boolean closed;

  /** An address that was inserted, and how many post to it. */
  public final class Entry {
    private final FabricAddress address;
    private final long number;
    final Refusals refusals = new Refusals();
    private int peersUses;
    private int answers;
    private boolean queued;

    private Entry(FabricAddress address, long number) {
      this.address = address;
      this.number = number;
    }

    public long number() {
      return number;
    }

    private boolean isUnused() {
      return peersUses + answers == 0;
    }

    private void use(int more, boolean ofPeer) {
      peers -= peersUses > 0 ? 1 : 0;
      strangers -= peersUses == 0 && answers > 0 ? 1 : 0;
      peersUses += ofPeer ? more : 0;
      answers += ofPeer ? 0 : more;
      peers += peersUses > 0 ? 1 : 0;
      strangers += peersUses == 0 && answers > 0 ? 1 : 0;
      if (isUnused() && !queued) {
        queued = true;
        unused.addLast(this);
        forget();
      }
    }

    /** A peer, or a stranger, is not posted to any more. */
    public void endUse(boolean ofPeer) {
      use(-1, ofPeer);
    }
  }

  public InsertedAddresses(AddressVector addresses, String label, LongPredicate isBusy) {
    this.addresses = addresses;
    this.label = label;
    this.isBusy = isBusy;
  }

  /**
   * An address, until {@link Entry#endUse}: of a peer, or of a stranger for one answer. Only few of
   * strangers are used at once, so that senders without a connection, even under many addresses,
   * take no space from peers.
   *
   * @throws IllegalArgumentException if the address has a length that this provider never uses, or
   *     too many peers are known, or strangers answered
   * @throws FabricException if the provider refuses it
   */
  public Entry use(FabricAddress address, boolean isPeer) {
    Entry entry = entries.get(address);
    boolean counts = entry == null || (isPeer ? entry.peersUses == 0 : entry.isUnused());
    if (counts && (isPeer ? peers == MOST_PEERS : strangers == MOST_STRANGERS)) {
      throw new IllegalArgumentException(
          isPeer
              ? "%s knows %d peers, and takes no more".formatted(label, MOST_PEERS)
              : "%s answers %d strangers, and no more at once".formatted(label, MOST_STRANGERS));
    }
    if (entry == null) {
      entry = new Entry(address, addresses.insert(address.bytes()));
      entries.put(address, entry);
      sharing.incrementAndGet(entry.number);
    }
    entry.use(1, isPeer);
    return entry;
  }

  private void forget() {
    for (int left = unused.size() - MOST_UNUSED; left > 0 && !closed; left--) {
      Entry oldest = unused.removeFirst();
      oldest.queued = oldest.isUnused() && isBusy.test(oldest.number);
      if (oldest.queued) {
        unused.addLast(oldest);
      } else if (oldest.isUnused()) {
        entries.remove(oldest.address);
        if (sharing.decrementAndGet(oldest.number) == 0) {
          addresses.remove(oldest.number);
        }
      }
    }
  }

  /** Its address vector closes: nothing is removed from it any more. */
  public void close() {
    closed = true;
  }

  public int known() {
    return entries.size();
  }
}

package org.jofi.rdma.nic;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.function.LongPredicate;
import org.agrona.collections.Long2LongCounterMap;
import org.jofi.fabric.AddressVector;
import org.jofi.fabric.FabricException;
import org.jofi.rdma.wire.FabricAddress;
import org.jspecify.annotations.Nullable;

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

    private void use(int ofPeers, int ofAnswers) {
      peers -= peersUses > 0 ? 1 : 0;
      strangers -= peersUses == 0 && answers > 0 ? 1 : 0;
      peersUses += ofPeers;
      answers += ofAnswers;
      peers += peersUses > 0 ? 1 : 0;
      strangers += peersUses == 0 && answers > 0 ? 1 : 0;
      if (isUnused() && !queued) {
        queued = true;
        unused.addLast(this);
        forget();
      }
    }

    /** A peer's connections post to it no more. */
    public void endUse() {
      use(-1, 0);
    }

    public void answered() {
      use(0, -1);
    }
  }

  public InsertedAddresses(AddressVector addresses, String label, LongPredicate isBusy) {
    this.addresses = addresses;
    this.label = label;
    this.isBusy = isBusy;
  }

  /**
   * A peer's address, until {@link Entry#endUse}.
   *
   * @throws IllegalArgumentException if the address has a length that this provider never uses, or
   *     too many peers are known
   * @throws FabricException if the provider refuses it
   */
  public Entry peer(FabricAddress address) {
    Entry known = entries.get(address);
    if (peers == MOST_PEERS && (known == null || known.peersUses == 0)) {
      throw new IllegalArgumentException(
          "%s knows %d peers, and takes no more".formatted(label, MOST_PEERS));
    }
    return use(known, address, 1, 0);
  }

  /**
   * An address that may not be a peer's, for one answer, until {@link Entry#answered}. Only few of
   * them are used at once, so that senders without a connection, even under many addresses, take no
   * space from peers.
   *
   * @throws IllegalArgumentException if the address has a length that this provider never uses, or
   *     too many are being answered
   * @throws FabricException if the provider refuses it
   */
  public Entry stranger(FabricAddress address) {
    Entry known = entries.get(address);
    if (strangers == MOST_STRANGERS && (known == null || known.isUnused())) {
      throw new IllegalArgumentException(
          "%s answers %d strangers, and no more at once".formatted(label, MOST_STRANGERS));
    }
    return use(known, address, 0, 1);
  }

  private Entry use(@Nullable Entry known, FabricAddress address, int ofPeers, int ofAnswers) {
    Entry entry = known;
    if (entry == null) {
      entry = new Entry(address, addresses.insert(address.bytes()));
      entries.put(address, entry);
      sharing.incrementAndGet(entry.number);
    }
    entry.use(ofPeers, ofAnswers);
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

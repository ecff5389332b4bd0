package org.jofi.simulated.registration;

import org.agrona.collections.Long2ObjectHashMap;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.KeyOwner;
import org.jofi.fabric.RegionRequest;
import org.jofi.simulated.network.Lifecycle;
import org.jofi.simulated.network.Network;
import org.jofi.simulated.network.Nic;
import org.jspecify.annotations.Nullable;

/**
 * What regions, queues and endpoints of a domain have in common: its NIC, and the keys and
 * descriptors of its regions. Under the network's lock.
 */
public final class ProtectionDomain {
  private final Network network;
  private final FabricInfo info;
  private final Nic nic;
  private final Lifecycle life;
  private final Long2ObjectHashMap<RegisteredMemory> keys = new Long2ObjectHashMap<>();
  private final Long2ObjectHashMap<Lifecycle> requestedKeys = new Long2ObjectHashMap<>();
  private final Long2ObjectHashMap<RegisteredMemory> descriptors = new Long2ObjectHashMap<>();
  private long lastKey;

  /** Opens a domain of this NIC. */
  public ProtectionDomain(Network network, FabricInfo info, Nic nic) {
    this.network = network;
    this.info = info;
    this.nic = nic;
    this.life = new Lifecycle(network, nic.host() + " domain " + info.domainName());
  }

  /** The network that it is in. */
  public Network network() {
    return network;
  }

  /** What was negotiated. */
  public FabricInfo info() {
    return info;
  }

  /** Its NIC. */
  public Nic nic() {
    return nic;
  }

  /** Whether it is open, and what uses it. */
  public Lifecycle life() {
    return life;
  }

  /** The region that peers reach by this key; null if there is none. */
  public @Nullable RegisteredMemory region(long key) {
    return keys.get(key);
  }

  /** The open region with this descriptor; null if there is none. */
  public @Nullable RegisteredMemory described(long descriptor) {
    return descriptor == 0 ? null : descriptors.get(descriptor);
  }

  Long2ObjectHashMap<RegisteredMemory> keys() {
    return keys;
  }

  Long2ObjectHashMap<RegisteredMemory> descriptors() {
    return descriptors;
  }

  /** Keys that the application chose and that are in use, with the regions that have them. */
  Long2ObjectHashMap<Lifecycle> requestedKeys() {
    return requestedKeys;
  }

  /**
   * The key of a region that becomes usable: the requested one, or one that was never used before.
   */
  public long keyFor(RegionRequest request) {
    if (info.keyOwner() == KeyOwner.APPLICATION) {
      return request.requestedKey();
    }
    int bytes = info.limits().mrKeyBytes();
    long mask = bytes >= 8 ? -1L : (1L << (8 * bytes)) - 1;
    long key;
    do {
      lastKey += 1 + network.draw(16);
      key = ((long) nic.number() << 40 | lastKey << 4 | 9) & mask;
    } while (keys.containsKey(key));
    return key;
  }

  @Override
  public String toString() {
    return life.label();
  }
}

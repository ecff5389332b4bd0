package org.jofi.simulated.registration;

import org.jofi.fabric.Access;
import org.jofi.fabric.Addressing;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.RegionRequest;
import org.jofi.simulated.contract.Rule;
import org.jofi.simulated.network.Lifecycle;
import org.jofi.simulated.network.Network;
import org.jspecify.annotations.Nullable;

/** A memory region in any state. The unbound, bound and usable region objects share it. */
public final class RegisteredMemory {
  /** Marks descriptors, so that a key or an address that is passed by mistake is detected. */
  private static final long DESCRIPTOR_TAG = 0x5DL << 48;

  private final ProtectionDomain domain;
  private final RegionRequest request;
  private final Lifecycle life;
  private final long descriptor;
  private @Nullable Lifecycle endpoint;
  private boolean enabled;
  private long key;

  /** Posted operations, other than receives, that use it. */
  private int operations;

  /** Posted receives that use it. */
  private int receives;

  RegisteredMemory(ProtectionDomain domain, RegionRequest request, Lifecycle life) {
    this.domain = domain;
    this.request = request;
    this.life = life;
    this.descriptor = DESCRIPTOR_TAG | life.serial();
    domain.life().addUser(life);
    domain.descriptors().put(descriptor, this);
  }

  public ProtectionDomain domain() {
    return domain;
  }

  public RegionRequest request() {
    return request;
  }

  public Lifecycle life() {
    return life;
  }

  public boolean isOpen() {
    return life.isOpen();
  }

  long descriptor() {
    return descriptor;
  }

  /** The endpoint that it is bound to; null if it is not bound. */
  public @Nullable Lifecycle endpoint() {
    return endpoint;
  }

  void bind(Lifecycle to) {
    endpoint = to;
    to.addUser(life);
    life.history().add("bound to endpoint of serial", to.serial());
  }

  /** Makes it usable with this key. */
  public void enable(long withKey) {
    enabled = true;
    key = withKey;
    if (Access.isRemote(request.access())) {
      domain.keys().put(withKey, this);
    }
    life.history().add("enabled", 0);
  }

  long key(String call) {
    if (!Access.isRemote(request.access())) {
      String detail =
          life.label() + " was registered for " + Access.describe(request.access()) + " only";
      throw network()
          .contracts()
          .misuse(
              Rule.MR_KEY_ACCESS, call, life.history(), detail, new IllegalStateException(detail));
    }
    return key;
  }

  /**
   * Whether a peer that addresses the endpoint {@code through} may access the range in this way.
   */
  public boolean allows(Lifecycle through, long remoteAddress, long bytes, long access) {
    if (!isOpen() || !enabled || (request.access() & access) != access) {
      return false;
    }
    if (endpoint != null && endpoint != through) {
      return false;
    }
    long offset = offset(remoteAddress);
    return offset >= 0 && bytes >= 0 && offset <= request.lengthBytes() - bytes;
  }

  /** The address in this process for an address that a peer uses. */
  public long translate(long remoteAddress) {
    return request.address() + offset(remoteAddress);
  }

  private long offset(long remoteAddress) {
    return domain.info().addressing() == Addressing.VIRTUAL
        ? remoteAddress - request.address()
        : remoteAddress;
  }

  /** Whether a local buffer is within it. */
  public boolean covers(long address, long bytes) {
    long offset = address - request.address();
    return offset >= 0 && offset <= request.lengthBytes() - bytes;
  }

  public void use(boolean receive) {
    if (receive) {
      receives++;
    } else {
      operations++;
    }
  }

  public void unuse(boolean receive) {
    if (receive) {
      receives--;
    } else {
      operations--;
    }
  }

  /** fi_close; a second call does nothing. */
  void close() {
    Network network = network();
    network.enter();
    try {
      if (!life.isOpen()) {
        return;
      }
      requireIdle();
      if (domain.keys().get(key) == this) {
        domain.keys().remove(key);
      }
      domain.requestedKeys().remove(request.requestedKey(), life);
      domain.descriptors().remove(descriptor);
      if (endpoint != null) {
        endpoint.removeUser(life);
      }
      domain.life().removeUser(life);
      life.close();
    } finally {
      network.exit();
    }
  }

  private void requireIdle() {
    if (receives == 0 && operations == 0) {
      return;
    }
    String detail =
        "%s: %d posted receives and %d other operations use it"
            .formatted(life.label(), receives, operations);
    RuntimeException violation =
        network()
            .contracts()
            .misuse(
                Rule.MR_CLOSE_IN_USE,
                "fi_close",
                life.history(),
                detail,
                new FabricException("fi_close", FabricErrno.EBUSY, detail, life.label()));
    boolean closesAnyway =
        receives == 0 || domain.nic().profile().behaviour().regionsOutliveReceives();
    if (network().contracts().throwing() || !closesAnyway) {
      throw violation;
    }
  }

  private Network network() {
    return domain.network();
  }
}

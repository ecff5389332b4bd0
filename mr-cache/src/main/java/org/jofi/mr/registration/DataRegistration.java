package org.jofi.mr.registration;

import org.jofi.fabric.Access;
import org.jofi.fabric.MemoryKind;

/**
 * The registration of an application's buffer, in host or GPU memory, on the data rails of a
 * multi-rail endpoint only. The cache makes it and owns its regions; users lease it.
 *
 * <p><b>Lifecycle.</b>
 *
 * <pre>
 *             acquire: miss             last release or endUse
 *  (nothing) ---------------&gt; LEASED -----------------------&gt; IDLE
 *                             ^  |  ^                        /  |
 *                     endUse  |  |   \----------------------/   |
 *                   (last one)|  | beginUse   acquire: hit      | evicted, superseded,
 *                             |  v                              | cache off, allocation unknown
 *                            IN USE                             v
 *                                    LEASED ----------------&gt; CLOSED
 *                                       invalidated, purged
 * </pre>
 *
 * A request that finds it by itself needs no lease: {@link
 * org.jofi.mr.EndpointRegistrations#use(BufferRange, long)} begins a use, also of an idle one. A
 * registration in use is never closed, except by an abort after its time limit.
 *
 * <p><b>Threads.</b> Any thread. {@link #beginUse}, {@link #endUse} and {@link #release} are one
 * atomic addition on this object each and allocate nothing. Descriptors, keys and addresses are
 * plain reads.
 */
public interface DataRegistration extends Descriptors {
  /** The registered memory. A lease may have been acquired for a part of it only. */
  BufferRange range();

  /** Whether it is memory that this process's code can read and write. */
  default boolean isHostMemory() {
    return range().kind() == MemoryKind.HOST;
  }

  /** Bits of {@link Access} that it is registered for. */
  long access();

  /** The number of data rails that it is registered on. */
  int rails();

  /** The descriptor for posting calls on this data rail. */
  @Override
  long descriptor(int rail);

  /**
   * The key for peers that access it through this data rail.
   *
   * @throws IllegalStateException if it is not registered for remote access
   */
  long key(int rail);

  /**
   * The address that a peer uses on this data rail for a local address: the address itself or its
   * offset, as negotiated.
   *
   * @throws IndexOutOfBoundsException if the address is not within the registration
   */
  long remoteAddress(int rail, long address);

  /** Whether its regions can be used; false once it was invalidated, purged or evicted. */
  boolean isOpen();

  /**
   * Called when a request starts to use it. It is not closed until {@link #endUse}.
   *
   * @return false if it was invalidated or purged meanwhile; the request must not be posted
   * @throws IllegalStateException if the caller holds neither a lease nor a use
   */
  boolean beginUse();

  /**
   * Called when the request's last operation has completed. It calls no provider: what is then not
   * needed any more is closed by {@link org.jofi.mr.DeviceRegistrations#settle}.
   *
   * @throws IllegalStateException without an earlier {@link #beginUse}
   */
  void endUse();

  /**
   * Gives one lease back. The cache keeps the registration or closes it, depending on its budgets.
   * Release a registration that was invalidated or purged as well.
   *
   * @throws IllegalStateException if it was released more often than acquired
   */
  void release();

  /**
   * Gives it no new leases, and closes it with its last lease or use rather than keep it: for
   * memory that a peer may still write into, since only a closed region refuses that. A second call
   * does nothing.
   */
  void retire();
}

package org.jofi.rdma.communicator;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jofi.mr.EndpointRegistrations;
import org.jofi.mr.registration.BufferRange;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.mr.registration.RegistrationException;
import org.jofi.transport.TransportException;
import org.jspecify.annotations.Nullable;

/**
 * Registrations of segments, each found in the endpoint's cache for one request, which uses it. A
 * hit takes no lock and allocates nothing. As the communicator's calls, without the endpoint's
 * lock, since NICs may take long to register.
 */
final class SegmentUses {
  private static final long LEAST_BYTES = 64;

  private final RdmaComm owner;
  private final EndpointRegistrations registrations;
  private final long wholeBytes;
  private @Nullable MemorySegment stand;

  SegmentUses(RdmaComm owner, EndpointRegistrations registrations, long wholeBytes) {
    this.owner = owner;
    this.registrations = registrations;
    this.wholeBytes = wholeBytes;
  }

  /**
   * Begins a use of a registration that covers a part of a segment; the request ends it.
   *
   * @throws IllegalArgumentException if the part is not within the segment, or it is on the heap,
   *     or read-only although something is to arrive in it
   * @throws IllegalStateException if its arena is closed
   * @throws TransportException if it has to be registered, and that fails
   */
  DataRegistration use(MemorySegment segment, long offset, long lengthBytes, long access) {
    check(segment, offset, lengthBytes);
    if (access != Rights.SENT && segment.isReadOnly()) {
      throw new IllegalArgumentException(
          "%s: nothing can arrive in %s, which is read-only".formatted(owner.label(), segment));
    }
    // A message of no bytes needs memory as any other does, and the segment may be empty.
    MemorySegment memory = lengthBytes == 0 ? stand() : segment;
    boolean whole = lengthBytes == 0 || memory.byteSize() <= wholeBytes;
    long address = whole ? memory.address() : memory.address() + offset;
    long bytes = whole ? memory.byteSize() : lengthBytes;
    MemorySegment.Scope arena = BufferRange.identifying(memory.scope());
    try {
      // Without an arena, nothing is kept: the part alone is registered.
      return arena == null
          ? registrations.use(BufferRange.host(segment.address() + offset, lengthBytes), access)
          : registrations.use(arena, address, bytes, access);
    } catch (RegistrationException refused) {
      throw owner.memory.refused(refused);
    }
  }

  private void check(MemorySegment segment, long offset, long lengthBytes) {
    if (!segment.isNative()) {
      throw new IllegalArgumentException(
          owner.label() + ": NICs reach no heap memory, which the collector moves; use an arena's");
    }
    if (!segment.scope().isAlive()) {
      throw new IllegalStateException(
          "%s: the arena of %s is closed".formatted(owner.label(), segment));
    }
    checkWithin(segment, offset, lengthBytes);
  }

  private MemorySegment stand() {
    MemorySegment memory = stand;
    if (memory == null) {
      memory = Arena.ofAuto().allocate(LEAST_BYTES, LEAST_BYTES);
      stand = memory;
    }
    return memory;
  }

  void checkWithin(MemorySegment segment, long offset, long lengthBytes) {
    if (lengthBytes < 0 || offset < 0 || offset > segment.byteSize() - lengthBytes) {
      throw new IllegalArgumentException(
          "%s: %d bytes at offset %d are not within %s"
              .formatted(owner.label(), lengthBytes, offset, segment));
    }
  }
}

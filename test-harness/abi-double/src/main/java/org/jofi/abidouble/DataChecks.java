package org.jofi.abidouble;

import static org.jofi.libfabric.bindings.LibfabricConstants.FI_COMPLETION;
import static org.jofi.libfabric.bindings.LibfabricConstants.FI_KEY_NOTAVAIL;
import static org.jofi.libfabric.bindings.LibfabricConstants.FI_REMOTE_CQ_DATA;

import java.lang.foreign.MemorySegment;
import org.jofi.fabric.Access;
import org.jofi.fabric.PostFlags;
import org.jofi.libfabric.bindings.fi_msg;
import org.jofi.libfabric.bindings.fi_msg_rma;
import org.jofi.libfabric.bindings.fi_rma_iov;
import org.jofi.libfabric.bindings.iovec;
import org.jspecify.annotations.Nullable;

/** What a NIC whose regions belong to endpoints demands of an operation. */
final class DataChecks {
  private static final long FLAGS =
      PostFlags.MORE
          | PostFlags.FENCE
          | PostFlags.INJECT
          | PostFlags.TRANSMIT_COMPLETE
          | PostFlags.DELIVERY_COMPLETE
          | FI_COMPLETION()
          | FI_REMOTE_CQ_DATA();

  private final EndpointFid endpoint;
  private final Premises premises;
  private final Ledger ledger;

  DataChecks(EndpointFid endpoint, Premises premises) {
    this.endpoint = endpoint;
    this.premises = premises;
    ledger = premises.ledger();
  }

  /** Where a peer is. */
  String peer(String call, long number) {
    synchronized (ledger) {
      VectorFid vector = endpoint.vector();
      String address = vector == null ? null : vector.peer(number);
      if (address == null) {
        throw ledger.refusal(
            Rule.MESSAGE, call, "%s has no peer %d".formatted(vector, number), endpoint);
      }
      return address;
    }
  }

  /**
   * A local buffer and its descriptor.
   *
   * @return whose descriptor it is; null if there is none, and need not be
   */
  @Nullable RegionFid local(
      String call, MemorySegment buffer, long length, MemorySegment descriptor, long access) {
    synchronized (ledger) {
      String what =
          "%d bytes at 0x%x with descriptor 0x%x on %s"
              .formatted(length, buffer.address(), descriptor.address(), endpoint);
      if (Pointers.isNull(descriptor)) {
        if (premises.settings().localDescriptors() && length != 0) {
          throw ledger.refusal(Rule.MISSING_DESCRIPTOR, call, what, endpoint);
        }
        return null;
      }
      RegionFid region = premises.descriptors().region(descriptor.address());
      if (region == null) {
        throw ledger.refusal(Rule.UNKNOWN_DESCRIPTOR, call, what, endpoint);
      }
      Rule broken = broken(region, descriptor.address(), buffer.address(), length, access);
      if (broken != null) {
        throw ledger.refusal(
            broken,
            call,
            "%s, which is that of %s, %s, bound to %s"
                .formatted(what, region, region.attributes(), region.endpoint()),
            region);
      }
      return region;
    }
  }

  private @Nullable Rule broken(
      RegionFid region, long descriptor, long address, long length, long access) {
    if (Descriptors.isTooEarly(descriptor)) {
      return Rule.READ_BEFORE_ENABLE;
    }
    if (region.isClosed()) {
      return Rule.CLOSED_DESCRIPTOR;
    }
    if (!region.isEnabled()) {
      return Rule.MISSING_BIND;
    }
    if (region.endpoint() != endpoint) {
      return Rule.OTHER_ENDPOINTS_REGION;
    }
    RegionAttributes range = region.attributes();
    if (address < range.address()
        || length < 0
        || length > range.address() + range.lengthBytes() - address) {
      return Rule.LOCAL_RANGE;
    }
    return (range.access() & access) == access ? null : Rule.LOCAL_ACCESS;
  }

  /**
   * What an operation reaches at a peer.
   *
   * @return false if the key is that of a region that was closed: an initiator learns of that from
   *     the completion
   */
  boolean remote(String call, Target target, long access) {
    String address = peer(call, target.peer());
    Board board = premises.board();
    String what = "%s at %s, from %s".formatted(target, address, endpoint);
    int there = board.endpoint(address);
    if (there == Board.NONE) {
      throw ledger.refusal(Rule.REMOTE_KEY, call, what + ": no double is there", endpoint);
    }
    if (target.key() == FI_KEY_NOTAVAIL()) {
      throw ledger.refusal(Rule.READ_BEFORE_ENABLE, call, what, endpoint);
    }
    int region = board.region(there, target.key());
    switch (board.state(region)) {
      case Board.REGION_BOUND ->
          throw ledger.refusal(Rule.READ_BEFORE_ENABLE, call, what, endpoint);
      case Board.REGION_CLOSED -> {
        // A peer that is gone could not tell.
        if (board.state(there) == Board.ENDPOINT_OPEN) {
          ledger.violated(Rule.REMOTE_KEY_CLOSED, call, what, endpoint);
          return false;
        }
      }
      case Board.REGION_ENABLED -> {
        if (target.address() < 0
            || target.lengthBytes() < 0
            || target.address() > board.lengthBytes(region) - target.lengthBytes()) {
          throw ledger.refusal(
              Rule.REMOTE_RANGE,
              call,
              "%s; it has %d".formatted(what, board.lengthBytes(region)),
              endpoint);
        }
        if ((board.access(region) & access) != access) {
          throw ledger.refusal(
              Rule.REMOTE_ACCESS,
              call,
              "%s; it is for %s".formatted(what, Access.describe(board.access(region))),
              endpoint);
        }
      }
      default ->
          throw ledger.refusal(
              Rule.REMOTE_KEY,
              call,
              what
                  + (board.isElsewhere(target.key())
                      ? ": the key is that of another endpoint's region"
                      : ": nobody has that key"),
              endpoint);
    }
    return true;
  }

  /** A struct fi_msg has one piece, and flags that the call knows. */
  void plainMessage(String call, MemorySegment message, long flags) {
    if (Pointers.isNull(fi_msg.msg_iov(message))
        || fi_msg.iov_count(message) != 1
        || (flags & ~FLAGS) != 0) {
      throw ledger.refusal(
          Rule.MESSAGE,
          call,
          "%d pieces, flags 0x%x".formatted(fi_msg.iov_count(message), flags),
          endpoint);
    }
  }

  /** A struct fi_msg_rma of one piece, as CXI takes it. */
  void message(String call, MemorySegment message, long flags) {
    boolean complete =
        !Pointers.isNull(fi_msg_rma.msg_iov(message))
            && !Pointers.isNull(fi_msg_rma.rma_iov(message))
            && fi_msg_rma.iov_count(message) == 1
            && fi_msg_rma.rma_iov_count(message) == 1
            && iovec.iov_len(Pointers.struct(fi_msg_rma.msg_iov(message)))
                == fi_rma_iov.len(Pointers.struct(fi_msg_rma.rma_iov(message)));
    if (!complete || (flags & ~FLAGS) != 0) {
      throw ledger.refusal(
          Rule.MESSAGE,
          call,
          "%d local and %d remote pieces, flags 0x%x"
              .formatted(fi_msg_rma.iov_count(message), fi_msg_rma.rma_iov_count(message), flags),
          endpoint);
    }
  }
}

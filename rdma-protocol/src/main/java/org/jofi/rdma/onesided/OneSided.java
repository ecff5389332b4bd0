package org.jofi.rdma.onesided;

import org.jofi.counters.written.CounterType;
import org.jofi.fabric.Access;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.mr.registration.RegistrationException;
import org.jofi.rdma.operation.InlineCopy;
import org.jofi.rdma.operation.OperationSink;
import org.jofi.rdma.request.PeerLink;
import org.jofi.rdma.request.Request;
import org.jofi.rdma.request.RequestQueue;
import org.jofi.rdma.request.RequestStrategy;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.jofi.transport.RemoteMemory;
import org.jofi.transport.Result;
import org.jspecify.annotations.Nullable;

/**
 * The one-sided writes and reads of one end of a connection, striped over the data rails like
 * messages. Used with the endpoint's lock held.
 *
 * <p><b>What completion means.</b> A write is over when all its bytes are in the peer's memory, on
 * every rail (FI_DELIVERY_COMPLETE); a peer's GPU may still need its own side's flush before it
 * sees them. A read is over when all its bytes are here. There is no order between requests: a
 * caller that needs one waits until the first is over. A request of 0 bytes is over at once and
 * posts nothing, since some providers never complete a write of 0 bytes.
 *
 * <p><b>Failures.</b> An operation that fails, such as one with a key that the peer has withdrawn,
 * fails its own request; some of its bytes may have moved. So does one that is past its bound. One
 * that finds the peer lost fails the whole side.
 *
 * <p>Callers have checked ranges, and that the remote memory has as many rails as the endpoint.
 */
public final class OneSided extends RequestQueue {
  public static final int REQUESTS = 256;

  public OneSided(PeerLink link) {
    super(link, ONE_SIDED, REQUESTS);
  }

  /**
   * Writes or reads; as {@link org.jofi.transport.Comm#iwrite} and {@link
   * org.jofi.transport.Comm#iread}.
   *
   * @param registration covers the range for {@link Access#WRITE}, or {@link Access#READ}; the
   *     request begins a use of it
   */
  public long move(
      boolean reads,
      long address,
      long lengthBytes,
      DataRegistration registration,
      RemoteMemory remote,
      long remoteOffsetBytes) {
    assert fits(lengthBytes, remote, remoteOffsetBytes) : remote;
    assert covers(registration, address, lengthBytes) : registration;
    assert (registration.access() & (reads ? Access.READ : Access.WRITE)) != 0 : registration;
    long unposted = unposted(lengthBytes);
    if (unposted != TO_POST) {
      return unposted;
    }
    if (!registration.beginUse()) {
      return failed(deregistered(reads ? "iread" : "iwrite"));
    }
    OneSidedTransfer transfer = (OneSidedTransfer) begin();
    transfer.lease = registration;
    transfer.set(reads, address, lengthBytes, registration, remote, remoteOffsetBytes);
    return start(transfer);
  }

  /**
   * Writes from a copy, so that the bytes are the caller's again at once; as {@link
   * org.jofi.transport.Comm#iwriteInline}. It is a copy of this endpoint's, even where the NIC
   * injects: an injected write would be over when its bytes left, and say nothing of the peer.
   *
   * @param address first byte, in host memory
   * @param lengthBytes at most {@link OperationSink#INLINE_BYTES}
   */
  public long writeInline(
      long address, long lengthBytes, RemoteMemory remote, long remoteOffsetBytes) {
    assert fits(lengthBytes, remote, remoteOffsetBytes) : remote;
    assert lengthBytes <= OperationSink.INLINE_BYTES : lengthBytes;
    long unposted = unposted(lengthBytes);
    if (unposted != TO_POST) {
      return unposted;
    }
    @Nullable InlineCopy copy;
    try {
      copy = link.sink.copyInline(address, (int) lengthBytes);
    } catch (RegistrationException e) {
      return failed(
          new Failure(
              FailureCause.EXHAUSTED,
              0,
              "iwriteInline",
              "no registered memory for the copy: " + e));
    }
    if (copy == null) {
      return Result.TRY_AGAIN;
    }
    link.endpoint.counters().add(CounterType.INLINE_WRITES, 1);
    OneSidedTransfer transfer = (OneSidedTransfer) begin();
    transfer.copy = copy;
    transfer.set(false, copy.address(), lengthBytes, copy, remote, remoteOffsetBytes);
    return start(transfer);
  }

  private long start(OneSidedTransfer transfer) {
    link.submit(transfer.transfer);
    return transfer.request.id();
  }

  /** What a call comes to for which nothing is posted; else {@link #TO_POST}. */
  private long unposted(long lengthBytes) {
    long unposted = unposted();
    if (unposted != TO_POST || lengthBytes > 0) {
      return unposted;
    }
    Request request = begin().request;
    request.end(0, null);
    return request.id();
  }

  private boolean fits(long lengthBytes, RemoteMemory remote, long offset) {
    return remote.rails() == link.endpoint.dataRails()
        && lengthBytes >= 0
        && offset >= 0
        && offset <= remote.lengthBytes() - lengthBytes;
  }

  public static boolean covers(DataRegistration registration, long address, long lengthBytes) {
    long offset = address - registration.range().address();
    return lengthBytes == 0
        || (offset >= 0 && offset <= registration.range().lengthBytes() - lengthBytes);
  }

  @Override
  protected RequestStrategy firstStrategy(Request request) {
    return new OneSidedTransfer(this, request);
  }

  @Override
  public boolean failsWith(Failure why) {
    return why.cause() == FailureCause.PEER_LOST;
  }
}

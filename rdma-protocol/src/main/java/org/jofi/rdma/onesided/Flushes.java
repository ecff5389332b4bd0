package org.jofi.rdma.onesided;

import org.jofi.counters.written.CounterType;
import org.jofi.fabric.Access;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.request.PeerLink;
import org.jofi.rdma.request.Request;
import org.jofi.rdma.request.RequestQueue;
import org.jofi.rdma.request.RequestStrategy;
import org.jofi.transport.Failure;
import org.jofi.transport.Result;
import org.jspecify.annotations.Nullable;

/**
 * The flushes of a receiving side. Used with the endpoint's lock held.
 *
 * <p>What a NIC wrote into a GPU's memory may still be on its way over the bus when the NIC reports
 * it. A read of that memory through the same NIC cannot overtake what it wrote before; so a flush
 * reads a few bytes through each data rail, from the endpoint's own address, and is over when all
 * reads are back: then everything that had arrived, over any rail, when the flush was posted, is in
 * the memory. The peer has no part in it: a flush works after the peer has closed, until this side
 * is closed, or given up since it failed.
 *
 * <p>All data rails are read, since any of them may have carried some of it. If one cannot be, such
 * as that of a NIC that died, the flush fails and names it: nobody can tell whether what came over
 * it is in the memory.
 */
public final class Flushes extends RequestQueue {
  public static final int REQUESTS = 128;

  public Flushes(PeerLink link) {
    super(link, FLUSHES, REQUESTS);
  }

  /**
   * Flushes; as {@link org.jofi.transport.RecvComm#iflush}, whatever the kind of memory.
   *
   * @param lengthBytes 0 or more; there is nothing to do for 0
   * @param registration covers the range for {@link Access#REMOTE_READ}, and is leased by the
   *     caller until this returns
   */
  public long flush(long address, long lengthBytes, DataRegistration registration) {
    assert lengthBytes >= 0 && OneSided.covers(registration, address, lengthBytes) : registration;
    assert (registration.access() & Access.REMOTE_READ) != 0 : registration;
    if (lengthBytes == 0) {
      return Result.NOTHING_TO_DO;
    }
    Failure refused = failure() == null ? refusal() : null;
    long unposted = refused == null ? unposted() : failed(refused);
    if (unposted != TO_POST) {
      return unposted;
    }
    if (!registration.beginUse()) {
      return failed(deregistered("iflush"));
    }
    link.endpoint.counters().add(CounterType.FLUSHES, 1);
    FlushRead read = (FlushRead) begin();
    long id = read.request.id();
    read.of(address, lengthBytes, registration);
    link.endpoint.tasks().submit(read.transfer);
    return id;
  }

  /** Why no flush can be posted; null if it can. */
  public @Nullable Failure refusal() {
    return link.sink.ownReadRefusal();
  }

  @Override
  protected RequestStrategy firstStrategy(Request request) {
    return new FlushRead(this, request);
  }

  @Override
  public boolean failsWith(Failure why) {
    return false;
  }

  /** Not for the peer. */
  @Override
  public boolean waits() {
    return false;
  }
}

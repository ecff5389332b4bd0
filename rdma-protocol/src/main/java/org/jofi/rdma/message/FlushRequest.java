package org.jofi.rdma.message;

import java.util.Objects;
import org.jofi.fabric.FabricErrno;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.endpoint.FlushLanding;
import org.jofi.rdma.endpoint.MultiRailEndpoint;
import org.jofi.rdma.endpoint.RailPort;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.jspecify.annotations.Nullable;

/** A read of a few bytes over each data rail, from this very endpoint. */
final class FlushRequest extends StripedRequest {
  private final MultiRailEndpoint endpoint;
  private @Nullable DataRegistration registration;
  private long address;
  private long lengthBytes;

  FlushRequest(Flushes flushes, int slot) {
    super(flushes, slot);
    endpoint = flushes.link().endpoint();
  }

  /** Of that range, of a registration whose use has begun. */
  void of(long from, long length, DataRegistration memory) {
    registration = memory;
    address = from;
    lengthBytes = length;
    plan().onEveryRail(endpoint.dataCount(), Math.min(length, FlushLanding.LINE_BYTES));
  }

  @Override
  int post(int stripe) {
    DataRegistration memory = Objects.requireNonNull(registration);
    int rail = plan().rail(stripe);
    FlushLanding landing = endpoint.landing();
    return endpoint
        .data(rail)
        .read(
            this,
            stripe,
            landing.address(rail),
            plan().length(stripe),
            landing.descriptor(rail),
            landing.self(rail),
            memory.remoteAddress(rail, address),
            memory.key(rail));
  }

  @Override
  RailPort port(int stripe) {
    return endpoint.data(plan().rail(stripe));
  }

  @Override
  String operation() {
    return "fi_read";
  }

  /** The peer has no part in it: whatever the errno, it is not the peer that is lost. */
  @Override
  Failure interpret(Failure fabric) {
    boolean lacking =
        fabric.errno() == FabricErrno.ENOSYS || fabric.errno() == FabricErrno.EOPNOTSUPP;
    return new Failure(
        lacking ? FailureCause.UNAVAILABLE : FailureCause.FABRIC,
        fabric.errno(),
        "flush, by %s of its own memory".formatted(fabric.where()),
        fabric.detail());
  }

  @Override
  protected String where() {
    return "iflush of %d bytes by %s".formatted(lengthBytes, endpoint.label());
  }

  @Override
  protected long movedBytes() {
    return lengthBytes;
  }

  @Override
  protected void endUse() {
    DataRegistration memory = registration;
    if (memory != null) {
      registration = null;
      memory.endUse();
    }
  }
}

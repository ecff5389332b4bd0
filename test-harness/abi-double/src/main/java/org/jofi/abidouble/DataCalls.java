package org.jofi.abidouble;

import static org.jofi.libfabric.bindings.LibfabricConstants.FI_REMOTE_CQ_DATA;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.function.ToLongFunction;
import org.jofi.fabric.Access;
import org.jofi.fabric.CompletionFlags;
import org.jofi.fabric.FabricErrno;
import org.jofi.libfabric.bindings.fi_msg;
import org.jofi.libfabric.bindings.fi_msg_rma;
import org.jofi.libfabric.bindings.fi_ops_msg;
import org.jofi.libfabric.bindings.fi_ops_rma;
import org.jofi.libfabric.bindings.fi_rma_iov;
import org.jofi.libfabric.bindings.fid_ep;
import org.jofi.libfabric.bindings.iovec;
import org.jspecify.annotations.Nullable;

/** The data calls of an enabled endpoint: checked, and posted with the real provider. */
final class DataCalls {
  private static final long ANY_PEER = -1;

  private final EndpointFid endpoint;
  private final Premises premises;
  private final DataChecks checks;

  DataCalls(EndpointFid endpoint, Premises premises) {
    this.endpoint = endpoint;
    this.premises = premises;
    checks = new DataChecks(endpoint, premises);
  }

  long recv(
      MemorySegment buffer,
      long length,
      MemorySegment descriptor,
      long peer,
      MemorySegment context) {
    if (peer != ANY_PEER) {
      checks.peer("fi_recv", peer);
    }
    RegionFid region = checks.local("fi_recv", buffer, length, descriptor, Access.RECV);
    return post(
        "fi_recv",
        context,
        region,
        real ->
            fi_ops_msg.recv.invoke(
                fi_ops_msg.recv(messages()), endpoint.real(), buffer, length, real, peer, context));
  }

  long send(
      MemorySegment buffer,
      long length,
      MemorySegment descriptor,
      long peer,
      MemorySegment context) {
    checks.peer("fi_send", peer);
    RegionFid region = checks.local("fi_send", buffer, length, descriptor, Access.SEND);
    return post(
        "fi_send",
        context,
        region,
        real ->
            fi_ops_msg.send.invoke(
                fi_ops_msg.send(messages()), endpoint.real(), buffer, length, real, peer, context));
  }

  long sendData(
      MemorySegment buffer,
      long length,
      MemorySegment descriptor,
      long data,
      long peer,
      MemorySegment context) {
    checks.peer("fi_senddata", peer);
    RegionFid region = checks.local("fi_senddata", buffer, length, descriptor, Access.SEND);
    return post(
        "fi_senddata",
        context,
        region,
        real ->
            fi_ops_msg.senddata.invoke(
                fi_ops_msg.senddata(messages()),
                endpoint.real(),
                buffer,
                length,
                real,
                data,
                peer,
                context));
  }

  long sendMessage(MemorySegment pointer, long flags) {
    MemorySegment message = Pointers.struct(pointer);
    checks.plainMessage("fi_sendmsg", message, flags);
    checks.peer("fi_sendmsg", fi_msg.addr(message));
    MemorySegment local = Pointers.struct(fi_msg.msg_iov(message));
    MemorySegment descriptors = fi_msg.desc(message);
    RegionFid region =
        checks.local(
            "fi_sendmsg",
            iovec.iov_base(local),
            iovec.iov_len(local),
            Pointers.isNull(descriptors) ? MemorySegment.NULL : Pointers.read(descriptors),
            Access.SEND);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment copy = arena.allocate(fi_msg.sizeof(), Long.BYTES);
      copy.copyFrom(message.asSlice(0, fi_msg.sizeof()));
      return post(
          "fi_sendmsg",
          fi_msg.context(message),
          region,
          real -> {
            fi_msg.desc(copy, arena.allocateFrom(ValueLayout.ADDRESS, real));
            return fi_ops_msg.sendmsg.invoke(
                fi_ops_msg.sendmsg(messages()), endpoint.real(), copy, flags);
          });
    }
  }

  /** Copied at once: it has neither descriptor nor context. */
  long inject(MemorySegment buffer, long length, long peer) {
    checks.peer("fi_inject", peer);
    return fi_ops_msg.inject.invoke(
        fi_ops_msg.inject(messages()), endpoint.real(), buffer, length, peer);
  }

  long read(
      MemorySegment buffer,
      long length,
      MemorySegment descriptor,
      Target target,
      MemorySegment context) {
    boolean reached = checks.remote("fi_read", target, Access.REMOTE_READ);
    RegionFid region = checks.local("fi_read", buffer, length, descriptor, Access.READ);
    if (!reached) {
      return bounce("fi_read", context, region, CompletionFlags.READ);
    }
    return post(
        "fi_read",
        context,
        region,
        real ->
            fi_ops_rma.read.invoke(
                fi_ops_rma.read(oneSided()),
                endpoint.real(),
                buffer,
                length,
                real,
                target.peer(),
                target.address(),
                target.key(),
                context));
  }

  long write(
      MemorySegment buffer,
      long length,
      MemorySegment descriptor,
      Target target,
      MemorySegment context) {
    boolean reached = checks.remote("fi_write", target, Access.REMOTE_WRITE);
    RegionFid region = checks.local("fi_write", buffer, length, descriptor, Access.WRITE);
    if (!reached) {
      return bounce("fi_write", context, region, CompletionFlags.WRITE);
    }
    return post(
        "fi_write",
        context,
        region,
        real ->
            fi_ops_rma.write.invoke(
                fi_ops_rma.write(oneSided()),
                endpoint.real(),
                buffer,
                length,
                real,
                target.peer(),
                target.address(),
                target.key(),
                context));
  }

  long writeData(
      MemorySegment buffer,
      long length,
      MemorySegment descriptor,
      long data,
      Target target,
      MemorySegment context) {
    if (!premises.settings().writeData()) {
      return -FabricErrno.ENOSYS;
    }
    boolean reached = checks.remote("fi_writedata", target, Access.REMOTE_WRITE);
    RegionFid region = checks.local("fi_writedata", buffer, length, descriptor, Access.WRITE);
    if (!reached) {
      return bounce("fi_writedata", context, region, CompletionFlags.WRITE);
    }
    return post(
        "fi_writedata",
        context,
        region,
        real ->
            fi_ops_rma.writedata.invoke(
                fi_ops_rma.writedata(oneSided()),
                endpoint.real(),
                buffer,
                length,
                real,
                data,
                target.peer(),
                target.address(),
                target.key(),
                context));
  }

  long writeMessage(MemorySegment pointer, long flags) {
    if ((flags & FI_REMOTE_CQ_DATA()) != 0 && !premises.settings().writeData()) {
      return -FabricErrno.ENOSYS;
    }
    MemorySegment message = Pointers.struct(pointer);
    checks.message("fi_writemsg", message, flags);
    MemorySegment local = Pointers.struct(fi_msg_rma.msg_iov(message));
    MemorySegment remote = Pointers.struct(fi_msg_rma.rma_iov(message));
    boolean reached =
        checks.remote(
            "fi_writemsg",
            new Target(
                fi_msg_rma.addr(message),
                fi_rma_iov.addr(remote),
                fi_rma_iov.len(remote),
                fi_rma_iov.key(remote)),
            Access.REMOTE_WRITE);
    MemorySegment descriptors = fi_msg_rma.desc(message);
    RegionFid region =
        checks.local(
            "fi_writemsg",
            iovec.iov_base(local),
            iovec.iov_len(local),
            Pointers.isNull(descriptors) ? MemorySegment.NULL : Pointers.read(descriptors),
            Access.WRITE);
    if (!reached) {
      return bounce("fi_writemsg", fi_msg_rma.context(message), region, CompletionFlags.WRITE);
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment copy = arena.allocate(fi_msg_rma.sizeof(), Long.BYTES);
      copy.copyFrom(message.asSlice(0, fi_msg_rma.sizeof()));
      return post(
          "fi_writemsg",
          fi_msg_rma.context(message),
          region,
          real -> {
            fi_msg_rma.desc(copy, arena.allocateFrom(ValueLayout.ADDRESS, real));
            return fi_ops_rma.writemsg.invoke(
                fi_ops_rma.writemsg(oneSided()), endpoint.real(), copy, flags);
          });
    }
  }

  /** Posts with the real descriptor. What was not posted is not in flight. */
  private long post(
      String call,
      MemorySegment context,
      @Nullable RegionFid region,
      ToLongFunction<MemorySegment> post) {
    premises.inFlight().begin(call, context.address(), endpoint, region);
    long code = post.applyAsLong(region == null ? MemorySegment.NULL : region.realDescriptor());
    if (code == 0) {
      premises.ledger().posted(call, endpoint);
    } else {
      premises.inFlight().end(context.address());
    }
    return code;
  }

  /** Takes an operation that comes back with an error: its target is not there. */
  private long bounce(
      String call, MemorySegment context, @Nullable RegionFid region, long direction) {
    premises.inFlight().begin(call, context.address(), endpoint, region);
    endpoint.transmitQueue().bounce(context, CompletionFlags.RMA | direction);
    return 0;
  }

  private MemorySegment messages() {
    return Pointers.struct(fid_ep.msg(endpoint.real()));
  }

  private MemorySegment oneSided() {
    return Pointers.struct(fid_ep.rma(endpoint.real()));
  }
}

package org.jofi.libfabric;

import static org.jofi.libfabric.bindings.LibfabricConstants.FI_COMPLETION;
import static org.jofi.libfabric.bindings.LibfabricConstants.FI_REMOTE_CQ_DATA;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jofi.fabric.PostFlags;
import org.jofi.libfabric.bindings.fi_msg;
import org.jofi.libfabric.bindings.fi_msg_rma;
import org.jofi.libfabric.bindings.fi_ops_ep;
import org.jofi.libfabric.bindings.fi_ops_msg;
import org.jofi.libfabric.bindings.fi_ops_rma;
import org.jofi.libfabric.bindings.fi_rma_iov;
import org.jofi.libfabric.bindings.fid_ep;
import org.jofi.libfabric.bindings.iovec;

/**
 * The data calls of one enabled endpoint: function pointers read once from its operation tables,
 * which some providers replace when an endpoint is enabled, one prepared fi_msg_rma, and one
 * fi_msg.
 */
final class PostingCalls {
  /** The calls of an endpoint that is not open. */
  static final PostingCalls NONE = new PostingCalls();

  private static final long COMPLETION = FI_COMPLETION();
  private static final long REMOTE_CQ_DATA = FI_REMOTE_CQ_DATA();

  private static final long DESTINATION = fi_msg_rma.addr$offset();
  private static final long CONTEXT = fi_msg_rma.context$offset();
  private static final long DATA = fi_msg_rma.data$offset();
  private static final long PLAIN_DESTINATION = fi_msg.addr$offset();
  private static final long PLAIN_CONTEXT = fi_msg.context$offset();
  private static final long PLAIN_DATA = fi_msg.data$offset();

  private final RegionMapLock regionMapLock;
  private final boolean splitsWriteData;
  private final long endpoint;
  private final MemorySegment send;
  private final MemorySegment sendData;
  private final MemorySegment sendMessage;
  private final MemorySegment inject;
  private final MemorySegment recv;
  private final MemorySegment write;
  private final MemorySegment writeData;
  private final MemorySegment writeMessage;
  private final MemorySegment read;
  private final MemorySegment cancel;

  private final Arena arena;
  private final MemorySegment message;
  private final MemorySegment local;
  private final MemorySegment remote;
  private final MemorySegment descriptors;
  private final long messageAddress;
  private final MemorySegment plainMessage;
  private final long plainMessageAddress;

  private PostingCalls() {
    regionMapLock = RegionMapLock.NONE;
    splitsWriteData = false;
    endpoint = 0;
    arena = Arena.global();
    MemorySegment none = MemorySegment.NULL;
    send =
        sendData =
            sendMessage = inject = recv = write = writeData = writeMessage = read = cancel = none;
    message = plainMessage = local = remote = descriptors = none;
    messageAddress = plainMessageAddress = 0;
  }

  private PostingCalls(MemorySegment ep, RegionMapLock regionMapLock, boolean splitsWriteData) {
    this.regionMapLock = regionMapLock;
    this.splitsWriteData = splitsWriteData;
    endpoint = ep.address();
    MemorySegment msg = InfoReader.struct(fid_ep.msg(ep));
    MemorySegment rma = InfoReader.struct(fid_ep.rma(ep));
    send = function(fi_ops_msg.send(msg));
    sendData = function(fi_ops_msg.senddata(msg));
    sendMessage = function(fi_ops_msg.sendmsg(msg));
    inject = function(fi_ops_msg.inject(msg));
    recv = function(fi_ops_msg.recv(msg));
    boolean oneSided = rma.address() != 0;
    write = oneSided ? function(fi_ops_rma.write(rma)) : MemorySegment.NULL;
    writeData = oneSided ? function(fi_ops_rma.writedata(rma)) : MemorySegment.NULL;
    writeMessage = oneSided ? function(fi_ops_rma.writemsg(rma)) : MemorySegment.NULL;
    read = oneSided ? function(fi_ops_rma.read(rma)) : MemorySegment.NULL;
    cancel = function(fi_ops_ep.cancel(InfoReader.struct(fid_ep.ops(ep))));

    arena = Arena.ofShared();
    message = NativeStruct.allocate(arena, fi_msg_rma.sizeof());
    local = arena.allocate(iovec.sizeof(), Long.BYTES);
    remote = arena.allocate(fi_rma_iov.sizeof(), Long.BYTES);
    descriptors = arena.allocate(Long.BYTES, Long.BYTES);
    messageAddress = message.address();
    plainMessage = NativeStruct.allocate(arena, fi_msg.sizeof());
    plainMessageAddress = plainMessage.address();
    fi_msg.msg_iov(plainMessage, local);
    fi_msg.desc(plainMessage, descriptors);
    fi_msg.iov_count(plainMessage, 1);
    fi_msg_rma.msg_iov(message, local);
    fi_msg_rma.desc(message, descriptors);
    fi_msg_rma.iov_count(message, 1);
    fi_msg_rma.rma_iov(message, remote);
    fi_msg_rma.rma_iov_count(message, 1);
  }

  /**
   * @param regionMapLock the domain's: a provider may read what peers sent while it takes a post
   * @param splitsWriteData whether immediate data goes by a write of its own: {@link #splitWrite}
   */
  static PostingCalls of(
      MemorySegment enabledEndpoint, RegionMapLock regionMapLock, boolean splitsWriteData) {
    return new PostingCalls(enabledEndpoint, regionMapLock, splitsWriteData);
  }

  /** A copy of the pointer in the global scope, so that calls need no liveness check. */
  private static MemorySegment function(MemorySegment pointer) {
    return MemorySegment.ofAddress(pointer.address());
  }

  int send(long address, long length, long descriptor, long peer, long context, long flags) {
    if (flags != PostFlags.NONE) {
      return sendMessage(address, length, descriptor, 0, peer, context, flags);
    }
    regionMapLock.enter();
    try {
      return (int) Downcalls.call(send, endpoint, address, length, descriptor, peer, context);
    } finally {
      regionMapLock.leave();
    }
  }

  int sendData(
      long address, long length, long descriptor, long data, long peer, long context, long flags) {
    if (flags != PostFlags.NONE) {
      return sendMessage(address, length, descriptor, data, peer, context, flags | REMOTE_CQ_DATA);
    }
    regionMapLock.enter();
    try {
      return (int)
          Downcalls.call(sendData, endpoint, address, length, descriptor, data, peer, context);
    } finally {
      regionMapLock.leave();
    }
  }

  int inject(long address, long length, long peer) {
    regionMapLock.enter();
    try {
      return (int) Downcalls.call(inject, endpoint, address, length, peer);
    } finally {
      regionMapLock.leave();
    }
  }

  int recv(long address, long length, long descriptor, long peer, long context) {
    regionMapLock.enter();
    try {
      return (int) Downcalls.call(recv, endpoint, address, length, descriptor, peer, context);
    } finally {
      regionMapLock.leave();
    }
  }

  int write(
      long address,
      long length,
      long descriptor,
      long peer,
      long remoteAddress,
      long key,
      long context,
      long flags) {
    if (flags == PostFlags.NONE) {
      regionMapLock.enter();
      try {
        return (int)
            Downcalls.call(
                write, endpoint, address, length, descriptor, peer, remoteAddress, key, context);
      } finally {
        regionMapLock.leave();
      }
    }
    return message(address, length, descriptor, 0, peer, remoteAddress, key, context, flags);
  }

  int writeData(
      long address,
      long length,
      long descriptor,
      long data,
      long peer,
      long remoteAddress,
      long key,
      long context,
      long flags) {
    if (splitsWriteData && length != 0) {
      return splitWrite(
          address, length, descriptor, data, peer, remoteAddress, key, context, flags);
    }
    if (flags == PostFlags.NONE) {
      regionMapLock.enter();
      try {
        return (int)
            Downcalls.call(
                writeData,
                endpoint,
                address,
                length,
                descriptor,
                data,
                peer,
                remoteAddress,
                key,
                context);
      } finally {
        regionMapLock.leave();
      }
    }
    return message(
        address,
        length,
        descriptor,
        data,
        peer,
        remoteAddress,
        key,
        context,
        flags | REMOTE_CQ_DATA);
  }

  /**
   * A write of the bytes, which has no context and whose completion nobody is told, and an empty
   * one that brings the data: it comes behind the bytes over the same connection, and it is never
   * there in part. If the connection ends, both fail. If only the second is refused, the caller
   * repeats both, which writes the same bytes again.
   */
  private int splitWrite(
      long address,
      long length,
      long descriptor,
      long data,
      long peer,
      long remoteAddress,
      long key,
      long context,
      long flags) {
    int code = write(address, length, descriptor, peer, remoteAddress, key, 0, flags);
    return code != 0
        ? code
        : writeData(address, 0, descriptor, data, peer, remoteAddress, key, context, flags);
  }

  int read(
      long address,
      long length,
      long descriptor,
      long peer,
      long remoteAddress,
      long key,
      long context) {
    regionMapLock.enter();
    try {
      return (int)
          Downcalls.call(
              read, endpoint, address, length, descriptor, peer, remoteAddress, key, context);
    } finally {
      regionMapLock.leave();
    }
  }

  int cancel(long context) {
    return (int) Downcalls.call(cancel, endpoint, context);
  }

  /**
   * fi_writemsg. Its flags replace the endpoint's default flags, so they have to ask for a
   * completion.
   */
  private int message(
      long address,
      long length,
      long descriptor,
      long data,
      long peer,
      long remoteAddress,
      long key,
      long context,
      long flags) {
    local.set(ValueLayout.JAVA_LONG, 0, address);
    local.set(ValueLayout.JAVA_LONG, 8, length);
    remote.set(ValueLayout.JAVA_LONG, 0, remoteAddress);
    remote.set(ValueLayout.JAVA_LONG, 8, length);
    remote.set(ValueLayout.JAVA_LONG, 16, key);
    // The efa provider of libfabric before 2.0 takes a descriptor for leave not to copy.
    boolean injected = (flags & PostFlags.INJECT) != 0;
    descriptors.set(ValueLayout.JAVA_LONG, 0, injected ? 0 : descriptor);
    message.set(ValueLayout.JAVA_LONG, DESTINATION, peer);
    message.set(ValueLayout.JAVA_LONG, CONTEXT, context);
    message.set(ValueLayout.JAVA_LONG, DATA, data);
    regionMapLock.enter();
    try {
      return (int) Downcalls.call(writeMessage, endpoint, messageAddress, flags | COMPLETION);
    } finally {
      regionMapLock.leave();
    }
  }

  /** fi_sendmsg; its flags, too, replace the endpoint's. */
  private int sendMessage(
      long address, long length, long descriptor, long data, long peer, long context, long flags) {
    local.set(ValueLayout.JAVA_LONG, 0, address);
    local.set(ValueLayout.JAVA_LONG, 8, length);
    descriptors.set(ValueLayout.JAVA_LONG, 0, descriptor);
    plainMessage.set(ValueLayout.JAVA_LONG, PLAIN_DESTINATION, peer);
    plainMessage.set(ValueLayout.JAVA_LONG, PLAIN_CONTEXT, context);
    plainMessage.set(ValueLayout.JAVA_LONG, PLAIN_DATA, data);
    regionMapLock.enter();
    try {
      return (int) Downcalls.call(sendMessage, endpoint, plainMessageAddress, flags | COMPLETION);
    } finally {
      regionMapLock.leave();
    }
  }

  /** Called after the endpoint is closed. */
  void free() {
    if (this != NONE) {
      arena.close();
    }
  }
}

package org.jofi.conformance.liars;

import org.jofi.fabric.Endpoint;
import org.jofi.fabric.PostFlags;

/** A send, write or read, as it was posted. */
record Post(
    Kind kind,
    long address,
    long bytes,
    long descriptor,
    long data,
    long peer,
    long remoteAddress,
    long key,
    int context,
    long flags) {

  enum Kind {
    SEND,
    SEND_DATA,
    INJECT,
    WRITE,
    WRITE_DATA,
    READ
  }

  int to(Endpoint endpoint) {
    return switch (kind) {
      case SEND -> endpoint.send(address, bytes, descriptor, peer, context);
      case SEND_DATA -> endpoint.sendData(address, bytes, descriptor, data, peer, context);
      case INJECT -> endpoint.inject(address, bytes, peer);
      case WRITE ->
          endpoint.write(address, bytes, descriptor, peer, remoteAddress, key, context, flags);
      case WRITE_DATA ->
          endpoint.writeData(
              address, bytes, descriptor, data, peer, remoteAddress, key, context, flags);
      case READ -> endpoint.read(address, bytes, descriptor, peer, remoteAddress, key, context);
    };
  }

  boolean isDelivered() {
    return (flags & PostFlags.DELIVERY_COMPLETE) != 0;
  }

  Post as(Kind other) {
    return new Post(
        other, address, bytes, descriptor, data, peer, remoteAddress, key, context, flags);
  }

  Post withBytes(long other) {
    return new Post(
        kind, address, other, descriptor, data, peer, remoteAddress, key, context, flags);
  }

  Post withPeer(long other) {
    return new Post(
        kind, address, bytes, descriptor, data, other, remoteAddress, key, context, flags);
  }

  Post withTarget(long otherAddress, long otherKey) {
    return new Post(
        kind, address, bytes, descriptor, data, peer, otherAddress, otherKey, context, flags);
  }

  Post withContext(int other) {
    return new Post(kind, address, bytes, descriptor, data, peer, remoteAddress, key, other, flags);
  }

  Post withFlags(long other) {
    return new Post(
        kind, address, bytes, descriptor, data, peer, remoteAddress, key, context, other);
  }
}

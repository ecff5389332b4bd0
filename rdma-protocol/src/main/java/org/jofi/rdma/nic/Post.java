package org.jofi.rdma.nic;

import org.jofi.fabric.Endpoint;
import org.jofi.fabric.PostFlags;

/**
 * An operation as it is posted next: whoever posts it fills it in, and uses it again. Its fields
 * are the operands of {@link Endpoint}'s posting calls. Used with the endpoint's lock held.
 */
public final class Post {
  enum Call {
    SEND,
    WRITE,
    READ
  }

  Call call = Call.SEND;
  long address;
  long lengthBytes;
  long descriptor;
  long peer;
  long remoteAddress;
  long key;
  boolean bringsData;
  long data;
  long flags = PostFlags.NONE;

  public Post() {}

  /** It is a send; the descriptor, and the peer's number, are those on the rail. */
  public Post send(long from, long bytes, long withDescriptor, long to, long withFlags) {
    call = Call.SEND;
    address = from;
    lengthBytes = bytes;
    descriptor = withDescriptor;
    peer = to;
    flags = withFlags;
    bringsData = false;
    return this;
  }

  /** It is a write, as {@link #send}, into {@link #remote} memory. */
  public Post write(long from, long bytes, long withDescriptor, long to, long withFlags) {
    Post write = send(from, bytes, withDescriptor, to, withFlags);
    call = Call.WRITE;
    return write;
  }

  /** It is a read of {@link #remote} memory. */
  public Post read(long into, long bytes, long withDescriptor, long from) {
    Post read = send(into, bytes, withDescriptor, from, PostFlags.NONE);
    call = Call.READ;
    return read;
  }

  /** The peer's memory, and its key on the rail. */
  public Post remote(long at, long withKey) {
    remoteAddress = at;
    key = withKey;
    return this;
  }

  public Post data(int bits) {
    bringsData = true;
    data = Integer.toUnsignedLong(bits);
    return this;
  }
}

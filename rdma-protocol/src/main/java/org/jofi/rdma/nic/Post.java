package org.jofi.rdma.nic;

import org.jofi.fabric.Endpoint;
import org.jofi.fabric.PostFlags;
import org.jspecify.annotations.Nullable;

/**
 * An operation as it is posted next: whoever posts it fills it in, and uses it again. Its fields
 * are the operands of {@link Endpoint}'s posting calls; descriptor, peer and key are those on the
 * rail. Used with the endpoint's lock held.
 */
public final class Post {
  public enum Call {
    SEND,
    WRITE,
    READ
  }

  public Call call = Call.SEND;
  public long address;
  public long lengthBytes;
  public long descriptor;
  public InsertedAddresses.@Nullable Entry peer;
  public long remoteAddress;
  public long key;
  public boolean bringsData;
  public int data;
  public long flags = PostFlags.NONE;

  public Post() {}
}

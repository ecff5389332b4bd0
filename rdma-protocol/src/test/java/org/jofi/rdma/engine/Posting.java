package org.jofi.rdma.engine;

import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.connect.Connection;
import org.jofi.transport.RemoteMemory;

/** Posts what is registered, as the communicators do. */
public final class Posting {
  private Posting() {}

  /** A send. */
  public static long send(
      SendProtocol sender, long address, long lengthBytes, int tag, DataRegistration memory) {
    return sender.send(address, lengthBytes, tag, memory, null);
  }

  /** A receive, or a group of them. */
  public static long receive(
      ReceiveProtocol receiver,
      int count,
      long[] addresses,
      long[] lengths,
      int[] tags,
      DataRegistration[] memory) {
    return receiver.receive(count, addresses, lengths, tags, memory);
  }

  /** A write into the peer's memory. */
  public static long write(
      Connection by,
      long address,
      long lengthBytes,
      DataRegistration memory,
      RemoteMemory to,
      long at) {
    return by.oneSided.move(false, address, lengthBytes, memory, to, at);
  }

  /** A read of the peer's memory. */
  public static long read(
      Connection by,
      long address,
      long lengthBytes,
      DataRegistration memory,
      RemoteMemory from,
      long at) {
    return by.oneSided.move(true, address, lengthBytes, memory, from, at);
  }
}

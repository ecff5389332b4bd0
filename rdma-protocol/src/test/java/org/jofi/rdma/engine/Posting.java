package org.jofi.rdma.engine;

import org.jofi.mr.registration.DataRegistration;
import org.jofi.transport.RemoteMemory;
import org.jofi.transport.Result;

/** Posts as the communicators do: with a use of the registration, of which the request ends. */
public final class Posting {
  private Posting() {}

  /** A send. */
  public static long send(
      SendProtocol sender, long address, long lengthBytes, int tag, DataRegistration memory) {
    return memory.beginUse()
        ? ended(sender.send(address, lengthBytes, tag, memory, null), 1, memory)
        : sender.requests().refuse("isend");
  }

  /** A receive, or a group of them. */
  public static long receive(
      ReceiveProtocol receiver,
      int count,
      long[] addresses,
      long[] lengths,
      int[] tags,
      DataRegistration[] memory) {
    for (int i = 0; i < count; i++) {
      if (!memory[i].beginUse()) {
        ended(Result.TRY_AGAIN, i, memory);
        return receiver.requests().refuse("irecv");
      }
    }
    return ended(receiver.receive(count, addresses, lengths, tags, memory), count, memory);
  }

  /** A write into the peer's memory. */
  public static long write(
      Connection by,
      long address,
      long lengthBytes,
      DataRegistration memory,
      RemoteMemory to,
      long at) {
    return move(false, by, address, lengthBytes, memory, to, at);
  }

  /** A read of the peer's memory. */
  public static long read(
      Connection by,
      long address,
      long lengthBytes,
      DataRegistration memory,
      RemoteMemory from,
      long at) {
    return move(true, by, address, lengthBytes, memory, from, at);
  }

  private static long move(
      boolean reads,
      Connection by,
      long address,
      long lengthBytes,
      DataRegistration memory,
      RemoteMemory far,
      long at) {
    return memory.beginUse()
        ? ended(by.oneSided().move(reads, address, lengthBytes, memory, far, at), 1, memory)
        : by.oneSided().refuse(reads ? "iread" : "iwrite");
  }

  private static long ended(long request, int count, DataRegistration... memory) {
    for (int i = 0; i < count && request == Result.TRY_AGAIN; i++) {
      memory[i].endUse();
    }
    return request;
  }
}

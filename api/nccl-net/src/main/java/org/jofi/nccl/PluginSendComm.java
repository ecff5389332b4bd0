package org.jofi.nccl;

import org.jofi.transport.Registration;
import org.jofi.transport.Result;
import org.jofi.transport.SendComm;
import org.jofi.transport.Use;

/** A communicator that sends. */
final class PluginSendComm extends PluginComm {
  private final SendComm comm;

  PluginSendComm(SendComm comm, RequestTable requests, CommGate gate, PluginLog log) {
    super(comm, requests, gate, log);
    this.comm = comm;
  }

  /**
   * Sends.
   *
   * @return a request's handle; 0 to try again later
   */
  long isend(long data, long size, int tag, Registration registration) {
    if (!tryEnter()) {
      return 0;
    }
    try {
      if (requests.isFull()) {
        return 0;
      }
      long id = comm.isend(registration, data - registration.memory().address(), size, tag);
      return id == Result.TRY_AGAIN ? 0 : requests.add(id, 0);
    } finally {
      leave();
    }
  }

  @Override
  Use use() {
    return Use.SEND;
  }

  @Override
  long poll(int slot) {
    return comm.test(requests.id(slot));
  }

  @Override
  void putSizes(int slot, long result, long sizes) {
    RawMemory.putInt(sizes, (int) result);
  }

  @Override
  String explain(int slot, long result) {
    return explainId(requests.id(slot), result);
  }
}

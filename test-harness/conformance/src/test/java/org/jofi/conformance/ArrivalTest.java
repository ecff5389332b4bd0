package org.jofi.conformance;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.jofi.conformance.bench.Completion;
import org.jofi.fabric.CompletionFlags;
import org.jofi.fabric.CompletionQueue;
import org.junit.jupiter.api.Test;

/** Which completions tell of immediate data that came with a peer's write. */
class ArrivalTest {

  private static boolean isArrival(long flags, boolean failed) {
    return new Completion(CompletionQueue.NO_CONTEXT, flags, 0, 7, failed, failed ? 5 : 0, "")
        .isArrival();
  }

  @Test
  void immediateDataOfAWriteIs() {
    long arrival =
        CompletionFlags.RMA | CompletionFlags.REMOTE_WRITE | CompletionFlags.REMOTE_CQ_DATA;
    assertTrue(isArrival(CompletionFlags.REMOTE_CQ_DATA, false));
    assertTrue(isArrival(arrival, false));
    // As efa of libfabric 1.17 tells of it.
    assertTrue(isArrival(arrival | CompletionFlags.WRITE, false));
    assertFalse(isArrival(arrival, true));
  }

  @Test
  void othersAreNot() {
    long received = CompletionFlags.MSG | CompletionFlags.RECV;
    assertFalse(isArrival(received, false));
    assertFalse(isArrival(received | CompletionFlags.REMOTE_CQ_DATA, false));
    assertFalse(isArrival(CompletionFlags.RMA | CompletionFlags.WRITE, false));
    // As sockets tells of its own writes and sends.
    long written = CompletionFlags.RMA | CompletionFlags.WRITE | CompletionFlags.REMOTE_CQ_DATA;
    assertFalse(isArrival(written, false));
    long sent = CompletionFlags.MSG | CompletionFlags.SEND | CompletionFlags.REMOTE_CQ_DATA;
    assertFalse(isArrival(sent, false));
    assertFalse(isArrival(CompletionFlags.RMA | CompletionFlags.REMOTE_WRITE, false));
  }
}

package org.jofi.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** Error texts name the call whose completion it is. */
class CompletionFlagsTest {

  @Test
  void operationsOfThisSide() {
    assertEquals("fi_send", CompletionFlags.operation(CompletionFlags.MSG | CompletionFlags.SEND));
    assertEquals("fi_recv", CompletionFlags.operation(CompletionFlags.MSG | CompletionFlags.RECV));
    assertEquals("fi_read", CompletionFlags.operation(CompletionFlags.RMA | CompletionFlags.READ));
    assertEquals(
        "fi_write", CompletionFlags.operation(CompletionFlags.RMA | CompletionFlags.WRITE));
    assertEquals("an operation", CompletionFlags.operation(0));
  }

  /** It brought immediate data, and is a receive nevertheless. */
  @Test
  void aReceiveWithImmediateDataIsAReceive() {
    assertEquals(
        "fi_recv",
        CompletionFlags.operation(
            CompletionFlags.MSG | CompletionFlags.RECV | CompletionFlags.REMOTE_CQ_DATA));
  }

  /** Among them one of which the provider says FI_WRITE as well. */
  @Test
  void operationsOfAPeer() {
    long arrival =
        CompletionFlags.RMA | CompletionFlags.REMOTE_WRITE | CompletionFlags.REMOTE_CQ_DATA;
    assertEquals("a peer's RMA", CompletionFlags.operation(arrival));
    assertEquals("a peer's RMA", CompletionFlags.operation(arrival | CompletionFlags.WRITE));
    assertEquals("a peer's RMA", CompletionFlags.operation(CompletionFlags.REMOTE_CQ_DATA));
    assertEquals("a peer's RMA", CompletionFlags.operation(CompletionFlags.REMOTE_READ));
  }

  @Test
  void dataOfAPeersIsToldFromThatOfAnOwnOperation() {
    long data = CompletionFlags.REMOTE_CQ_DATA;
    long arrival = CompletionFlags.RMA | CompletionFlags.REMOTE_WRITE | data;
    assertTrue(CompletionFlags.bringsData(data));
    assertTrue(CompletionFlags.bringsData(arrival));
    assertTrue(CompletionFlags.bringsData(arrival | CompletionFlags.WRITE));
    assertTrue(CompletionFlags.bringsData(CompletionFlags.MSG | CompletionFlags.RECV | data));
    assertFalse(CompletionFlags.bringsData(CompletionFlags.RMA | CompletionFlags.WRITE | data));
    assertFalse(CompletionFlags.bringsData(CompletionFlags.MSG | CompletionFlags.SEND | data));
    assertFalse(CompletionFlags.bringsData(arrival & ~data));
  }
}

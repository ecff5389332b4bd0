package org.jofi.nccl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class RequestTableTest {
  private final RequestTable requests = new RequestTable(77);

  @Test
  void keepsWhatItWasGiven() {
    long handle = requests.add(1234, -3);

    int slot = requests.find(handle);
    assertEquals(1234, requests.id(slot));
    assertEquals(-3, requests.detail(slot));
    assertTrue(RequestTable.isRequest(handle));
    assertEquals(77, RequestTable.comm(handle));
  }

  @Test
  void takesAsManyAsItHolds() {
    List<Long> handles = new ArrayList<>();
    for (int request = 0; request < RequestTable.CAPACITY; request++) {
      assertFalse(requests.isFull());
      handles.add(requests.add(request, 0));
    }
    assertTrue(requests.isFull());
    assertEquals(RequestTable.CAPACITY, new HashSet<>(handles).size());

    requests.remove(requests.find(handles.get(200)));
    assertFalse(requests.isFull());
    assertEquals(RequestTable.NONE, requests.find(handles.get(200)));
  }

  @Test
  void aHandleIsGoodOnce() {
    Set<Long> seen = new HashSet<>();
    for (int use = 0; use < 100_000; use++) {
      long handle = requests.add(use, 0);
      assertTrue(seen.add(handle), "used before");
      requests.remove(requests.find(handle));
      assertEquals(RequestTable.NONE, requests.find(handle));
    }
  }

  @Test
  void clearedRequestsAreGone() {
    long kept = requests.add(1, 0);
    requests.clear();

    assertEquals(RequestTable.NONE, requests.find(kept));
    for (int request = 0; request < RequestTable.CAPACITY; request++) {
      requests.add(request, 0);
    }
    assertTrue(requests.isFull());
    assertEquals(RequestTable.NONE, requests.find(kept));
  }

  @Test
  void otherNumbersAreNoRequests() {
    requests.add(1, 0);
    for (long nonsense : new long[] {0, 1, -1, Long.MAX_VALUE, Long.MIN_VALUE}) {
      assertFalse(RequestTable.isRequest(nonsense));
      assertEquals(RequestTable.NONE, requests.find(nonsense));
    }
  }
}

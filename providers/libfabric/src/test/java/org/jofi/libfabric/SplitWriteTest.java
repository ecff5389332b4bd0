package org.jofi.libfabric;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.PostFlags;
import org.jofi.libfabric.bindings.LibfabricConstants;
import org.jofi.libfabric.bindings.fi_msg_rma;
import org.jofi.libfabric.bindings.fi_ops_msg;
import org.jofi.libfabric.bindings.fi_ops_rma;
import org.jofi.libfabric.bindings.fid_ep;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Immediate data that goes by a write of its own, as a provider is given it. */
@Timeout(60)
class SplitWriteTest {
  private static final long CONTEXT = 4096;

  private record Write(long lengthBytes, long context, boolean withData, long data) {}

  private final List<Write> given = new ArrayList<>();

  /** What the provider answers to each of them. */
  private int post(long lengthBytes, List<Integer> answers) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment rma = arena.allocate(512, 8);
      fi_ops_rma.writemsg(
          rma,
          fi_ops_rma.writemsg.allocate(
              (_, message, flags) -> {
                MemorySegment post = InfoReader.struct(message);
                given.add(
                    new Write(
                        InfoReader.struct(fi_msg_rma.msg_iov(post)).get(ValueLayout.JAVA_LONG, 8),
                        fi_msg_rma.context(post).address(),
                        (flags & LibfabricConstants.FI_REMOTE_CQ_DATA()) != 0,
                        fi_msg_rma.data(post)));
                return answers.get(given.size() - 1);
              },
              arena));
      MemorySegment endpoint = arena.allocate(512, 8);
      fid_ep.rma(endpoint, rma);
      fid_ep.msg(endpoint, arena.allocate(fi_ops_msg.layout()));
      fid_ep.ops(endpoint, arena.allocate(512, 8));
      PostingCalls calls = PostingCalls.of(endpoint, RegionMapLock.NONE, true);
      int code =
          calls.writeData(64, lengthBytes, 0, 9, 0, 128, 7, CONTEXT, PostFlags.DELIVERY_COMPLETE);
      calls.free();
      return code;
    }
  }

  @Test
  void theDataComesBehindTheBytes() {
    assertEquals(0, post(8, List.of(0, 0)));
    assertEquals(List.of(new Write(8, 0, false, 0), new Write(0, CONTEXT, true, 9)), given);
  }

  @Test
  void anEmptyOneIsNotSplit() {
    assertEquals(0, post(0, List.of(0)));
    assertEquals(List.of(new Write(0, CONTEXT, true, 9)), given);
  }

  @Test
  void whatIsRefusedIsNotGoneOnWith() {
    assertEquals(-FabricErrno.EAGAIN, post(8, List.of(-FabricErrno.EAGAIN)));
    assertEquals(1, given.size());
  }

  @Test
  void refusedDataIsTheCallersToRepeat() {
    assertEquals(-FabricErrno.EAGAIN, post(8, List.of(0, -FabricErrno.EAGAIN)));
  }
}

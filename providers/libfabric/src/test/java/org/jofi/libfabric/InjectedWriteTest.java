package org.jofi.libfabric;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.jofi.fabric.Access;
import org.jofi.fabric.CompletionError;
import org.jofi.fabric.CompletionQueue;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.MrMode;
import org.jofi.fabric.PostFlags;
import org.jofi.fabric.RegionRequest;
import org.jofi.libfabric.bindings.fi_msg_rma;
import org.jofi.libfabric.bindings.fi_ops_msg;
import org.jofi.libfabric.bindings.fi_ops_rma;
import org.jofi.libfabric.bindings.fid_ep;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A write with FI_INJECT goes without a descriptor, so that no provider reads the buffer later. */
@Timeout(60)
class InjectedWriteTest {
  private static final long DESCRIPTOR = 0x1234;

  /** The descriptors that a provider is given, for writes with these flags. */
  private static List<Long> descriptors(long... flags) {
    List<Long> given = new ArrayList<>();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment rma = arena.allocate(512, 8);
      fi_ops_rma.writemsg(
          rma,
          fi_ops_rma.writemsg.allocate(
              (_, message, _) -> {
                MemorySegment descriptors = fi_msg_rma.desc(InfoReader.struct(message));
                given.add(InfoReader.struct(descriptors).get(ValueLayout.JAVA_LONG, 0));
                return 0;
              },
              arena));
      MemorySegment endpoint = arena.allocate(512, 8);
      fid_ep.rma(endpoint, rma);
      fid_ep.msg(endpoint, arena.allocate(fi_ops_msg.layout()));
      fid_ep.ops(endpoint, arena.allocate(512, 8));
      PostingCalls calls = PostingCalls.of(endpoint, RegionMapLock.NONE, false);
      for (long each : flags) {
        assertEquals(0, calls.write(64, 8, DESCRIPTOR, 0, 128, 7, 1, each));
        assertEquals(0, calls.writeData(64, 8, DESCRIPTOR, 9, 0, 128, 7, 1, each));
      }
      calls.free();
    }
    return given;
  }

  @Test
  void onlyInjectedWritesGoWithout() {
    assertEquals(
        List.of(0L, 0L, DESCRIPTOR, DESCRIPTOR, 0L, 0L),
        descriptors(
            PostFlags.INJECT,
            PostFlags.DELIVERY_COMPLETE,
            PostFlags.INJECT | PostFlags.DELIVERY_COMPLETE));
  }

  /** Though the negotiation demands descriptors. */
  @Test
  void theCallerNeedsNone() {
    try (Loopback loopback = Loopback.negotiating("tcp;ofi_rxm", MrMode.LOCAL)) {
      long from = loopback.memory.address();
      long unknown = loopback.self + 1;
      assertEquals(
          -FabricErrno.EINVAL, loopback.endpoint.write(from, 8, 0, loopback.self, 0, 7, 0, 0));
      assertEquals(
          -FabricErrno.EINVAL,
          loopback.endpoint.write(from, 8, 0, unknown, 0, 7, 0, PostFlags.INJECT));
      try (var _ =
          loopback.domain.register(
              RegionRequest.host(loopback.memory, Access.ALL).withRequestedKey(7))) {
        int posted;
        do {
          posted = loopback.endpoint.write(from, 8, 0, loopback.self, 0, 7, 0, PostFlags.INJECT);
          loopback.queue.poll(new Nothing(), 1);
        } while (posted == -FabricErrno.EAGAIN);
        assertEquals(0, posted);
      }
    }
  }

  private static final class Nothing implements CompletionQueue.Sink {
    @Override
    public void completed(int context, long flags, long lengthBytes, long data) {}

    @Override
    public void failed(CompletionError error) {}
  }
}

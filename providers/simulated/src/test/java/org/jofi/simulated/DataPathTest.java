package org.jofi.simulated;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.function.IntSupplier;
import org.jofi.fabric.Access;
import org.jofi.fabric.AddressVector;
import org.jofi.fabric.Capability;
import org.jofi.fabric.CompletionFlags;
import org.jofi.fabric.CompletionQueue;
import org.jofi.fabric.EndpointOption;
import org.jofi.fabric.EndpointRequest;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.FabricHints;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.FabricProvider;
import org.jofi.fabric.MemoryRegion;
import org.jofi.fabric.PostFlags;
import org.jofi.simulated.fault.Fault;
import org.jofi.simulated.fault.FaultPlan;
import org.jofi.simulated.profile.Profile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What operations do, and how they fail. */
class DataPathTest {
  private static int post(Pair pair, IntSupplier call) {
    int result = call.getAsInt();
    while (result == -FabricErrno.EAGAIN) {
      pair.simulation.idle();
      pair.left.poll();
      result = call.getAsInt();
    }
    return result;
  }

  private static MemorySegment filled(Pair pair, int bytes, int value) {
    MemorySegment memory = pair.memory(bytes);
    memory.fill((byte) value);
    return memory;
  }

  private static int send(Pair pair, MemorySegment from, MemoryRegion region, int context) {
    return post(
        pair,
        () ->
            pair.left.endpoint.send(
                from.address(), from.byteSize(), region.descriptor(), 0, context));
  }

  private static int recv(Node node, MemorySegment into, MemoryRegion region, int context) {
    return node.endpoint.recv(
        into.address(), into.byteSize(), region.descriptor(), AddressVector.ANY, context);
  }

  @ParameterizedTest
  @ValueSource(strings = {"efa", "cxi", "cxi-client-key", "tcp"})
  void messagesArriveWithTheirData(String profile) {
    try (Pair pair = new Pair(Profile.named(profile))) {
      MemorySegment out = filled(pair, 100, 7);
      MemorySegment in = pair.memory(200);
      MemoryRegion outRegion = pair.left.register(out, Access.LOCAL);
      MemoryRegion inRegion = pair.right.register(in, Access.LOCAL);
      assertEquals(0, recv(pair.right, in, inRegion, 3));
      assertEquals(
          0,
          post(
              pair,
              () ->
                  pair.left.endpoint.sendData(
                      out.address(), 100, outRegion.descriptor(), 99, 0, 1)));
      pair.settle();
      assertEquals(
          new Node.Done(
              3,
              CompletionFlags.MSG | CompletionFlags.RECV | CompletionFlags.REMOTE_CQ_DATA,
              100,
              99,
              0,
              0),
          pair.right.of(3));
      assertEquals(-1, in.asSlice(0, 100).mismatch(out));
      assertEquals(0, in.get(ValueLayout.JAVA_BYTE, 100));
      assertEquals(CompletionFlags.MSG | CompletionFlags.SEND, pair.left.of(1).flags());
    }
  }

  @Test
  void messagesWaitForTheirReceive() {
    try (Pair pair = new Pair(Profile.CXI)) {
      MemorySegment out = filled(pair, 64, 7);
      MemoryRegion region = pair.left.register(out, Access.LOCAL);
      assertEquals(0, send(pair, out, region, 1));
      pair.settle();
      assertEquals(0, pair.left.of(1).errno());
      MemorySegment in = pair.memory(64);
      assertEquals(0, recv(pair.right, in, pair.right.register(in, Access.LOCAL), 2));
      pair.settle();
      assertEquals(64, pair.right.of(2).bytes());
      assertEquals(-1, in.mismatch(out));
    }
  }

  @Test
  void injectedBytesAreTakenAtOnceAndNotCompleted() {
    try (Pair pair = new Pair(Profile.EFA)) {
      MemorySegment out = filled(pair, 64, 7);
      MemorySegment in = pair.memory(64);
      assertEquals(0, recv(pair.right, in, pair.right.register(in, Access.LOCAL), 2));
      assertEquals(0, pair.left.endpoint.inject(out.address(), 64, 0));
      out.fill((byte) 8);
      pair.settle();
      assertEquals(7, in.get(ValueLayout.JAVA_BYTE, 63));
      assertEquals(List.of(), pair.left.done);
      assertEquals(-FabricErrno.EMSGSIZE, pair.left.endpoint.inject(out.address(), 4097, 0));
    }
  }

  @Test
  void longerMessagesAreCutAndSaidToBe() {
    try (Pair pair = new Pair(Profile.TCP)) {
      MemorySegment out = filled(pair, 100, 7);
      MemorySegment in = pair.memory(100);
      MemoryRegion inRegion = pair.right.register(in, Access.LOCAL);
      MemoryRegion outRegion = pair.left.register(out, Access.LOCAL);
      assertEquals(0, recv(pair.right, in.asSlice(0, 60), inRegion, 2));
      assertEquals(0, send(pair, out, outRegion, 1));
      pair.settle();
      Node.Done cut = pair.right.of(2);
      assertEquals(FabricErrno.ETRUNC, cut.errno());
      assertEquals(60, cut.bytes());
      assertEquals(40, cut.overflow());
      assertEquals(0, in.get(ValueLayout.JAVA_BYTE, 60));
    }
  }

  @Test
  void directedReceivesTakeTheirPeersMessagesOnly() {
    FabricHints hints =
        FabricHints.any()
            .withRequired(Set.of(Capability.MSG, Capability.RMA, Capability.DIRECTED_RECV));
    try (Simulation simulation = Simulation.of(Profile.CXI).open()) {
      FabricProvider from = simulation.host(0).provider();
      FabricProvider to = simulation.host(1).provider();
      Node left = new Node(from, 0, 64);
      Node right = new Node(to, to.discover(hints).getFirst(), 64);
      left.know(right);
      long other = right.know(left);
      long self = right.know(right);
      assertEquals(0, right.endpoint.recv(0, 0, 0, self, 1));
      assertEquals(0, right.endpoint.recv(0, 0, 0, other, 2));
      assertEquals(0, left.endpoint.inject(0, 0, 0));
      simulation.settle();
      right.poll();
      assertFalse(right.has(1));
      assertTrue(right.has(2));
      assertEquals(0, right.endpoint.inject(0, 0, self));
      simulation.settle();
      right.poll();
      assertTrue(right.has(1));
    }
  }

  @Test
  void cancelledReceivesCompleteSo() {
    try (Pair pair = new Pair(Profile.EFA)) {
      MemorySegment in = pair.memory(64);
      MemoryRegion region = pair.left.register(in, Access.LOCAL);
      assertEquals(0, recv(pair.left, in, region, 5));
      assertEquals(0, pair.left.endpoint.cancel(5));
      assertEquals(-FabricErrno.ENOENT, pair.left.endpoint.cancel(5));
      pair.left.poll();
      assertEquals(FabricErrno.ECANCELED, pair.left.of(5).errno());
      region.close();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"efa", "cxi", "cxi-client-key", "tcp"})
  void readsBringWhatIsThere(String profile) {
    try (Pair pair = new Pair(Profile.named(profile))) {
      MemorySegment there = filled(pair, 500, 9);
      MemorySegment here = pair.memory(500);
      MemoryRegion remote = pair.right.register(there, Access.REMOTE_READ);
      MemoryRegion local = pair.left.register(here, Access.LOCAL);
      long from = pair.right.base(there);
      assertEquals(
          0,
          post(
              pair,
              () ->
                  pair.left.endpoint.read(
                      here.address(), 500, local.descriptor(), 0, from, remote.key(), 1)));
      pair.settle();
      assertEquals(0, pair.left.of(1).errno());
      assertArrayEquals(there.toArray(ValueLayout.JAVA_BYTE), here.toArray(ValueLayout.JAVA_BYTE));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"efa", "cxi", "cxi-client-key", "tcp"})
  void whatTheTargetRefusesFailsAsTheProviderHasIt(String name) {
    Profile profile = Profile.named(name);
    try (Pair pair = new Pair(profile)) {
      MemorySegment there = pair.memory(128);
      MemorySegment here = pair.memory(128);
      MemoryRegion local = pair.left.register(here, Access.LOCAL);
      MemoryRegion readOnly = pair.right.register(there, Access.REMOTE_READ);
      MemoryRegion closed = pair.right.register(there, Access.ALL);
      long closedKey = closed.key();
      closed.close();
      long base = pair.right.base(there);
      long[][] refused = {
        {base, 0x7777},
        {base, closedKey},
        {base, readOnly.key()},
        {base + 100, readOnly.key()},
        {base - 1, readOnly.key()}
      };
      for (int i = 0; i < refused.length; i++) {
        int context = i;
        assertEquals(
            0,
            post(
                pair,
                () ->
                    pair.left.endpoint.write(
                        here.address(),
                        64,
                        local.descriptor(),
                        0,
                        refused[context][0],
                        refused[context][1],
                        context,
                        PostFlags.DELIVERY_COMPLETE)));
        pair.settle();
        assertEquals(profile.errors().badRegion(), pair.left.of(i).errno(), "case " + i);
      }
      // A plain write is told of only where the target's NIC answers.
      assertEquals(
          0,
          post(
              pair,
              () ->
                  pair.left.endpoint.write(
                      here.address(), 64, local.descriptor(), 0, base, 0x7777, 50, 0)));
      pair.settle();
      int told = profile.equals(Profile.TCP) ? 0 : profile.errors().badRegion();
      assertEquals(told, pair.left.of(50).errno());
    }
  }

  @Test
  void regionsBoundToAnotherEndpointAreOutOfReach() {
    try (Pair pair = new Pair(Profile.CXI)) {
      MemorySegment there = pair.memory(64);
      var other =
          pair.right.domain.openEndpoint(
              EndpointRequest.of("other", pair.right.peers, pair.right.queue));
      MemoryRegion region = pair.right.register(there, Access.ALL);
      long toOther = pair.left.peers.insert(other.address());
      assertEquals(0, pair.left.endpoint.write(0, 0, 0, toOther, 0, region.key(), 1, 0));
      assertEquals(0, pair.left.endpoint.write(0, 0, 0, 0, 0, region.key(), 2, 0));
      pair.settle();
      assertEquals(FabricErrno.EIO, pair.left.of(1).errno());
      assertEquals(0, pair.left.of(2).errno());
    }
  }

  @Test
  void closedPeersFailOperations() {
    for (Profile profile : Profile.ALL) {
      try (Pair pair = new Pair(profile)) {
        assertEquals(0, post(pair, () -> pair.left.endpoint.inject(0, 0, 0)));
        pair.settle();
        pair.right.endpoint.close();
        assertEquals(0, pair.left.endpoint.read(0, 0, 0, 0, 0, 0, 1));
        pair.simulation.settle();
        pair.left.poll();
        assertEquals(profile.errors().peerGone(), pair.left.of(1).errno(), profile.name());
      }
    }
  }

  @Test
  void closingAnEndpointDropsWhatItPosted() {
    try (Pair pair = new Pair(Profile.EFA)) {
      MemorySegment memory = pair.memory(64);
      MemoryRegion region = pair.left.register(memory, Access.ALL);
      assertEquals(0, recv(pair.left, memory, region, 1));
      assertEquals(0, send(pair, memory, region, 2));
      pair.left.endpoint.close();
      region.close();
      pair.simulation.settle();
      pair.left.poll();
      assertEquals(List.of(), pair.left.done);
      pair.left.queue.close();
      pair.left.peers.close();
      pair.left.domain.close();
      pair.left.fabric.close();
      assertTrue(
          pair.simulation.openObjects().stream().allMatch(object -> object.contains("host 1")),
          () -> pair.simulation.openObjects().toString());
    }
  }

  @Test
  void fullQueueRefusesPostsAndHoldsArrivals() {
    try (Simulation simulation = Simulation.of(Profile.CXI).open();
        var memory = java.lang.foreign.Arena.ofConfined()) {
      Node left = new Node(simulation.host(0).provider(), 0, 8);
      Node right = new Node(simulation.host(1).provider(), 0, 2);
      left.know(right);
      right.know(left);
      MemorySegment window = memory.allocate(64, 64);
      MemoryRegion region = right.register(window, Access.REMOTE_WRITE);
      for (int i = 0; i < 5; i++) {
        assertEquals(0, left.endpoint.writeData(0, 0, 0, i, 0, 0, region.key(), i, 0));
      }
      simulation.settle();
      // Two wait in the queue, and no more has room: this side cannot post either.
      assertEquals(-FabricErrno.EAGAIN, right.endpoint.send(0, 0, 0, 0, 1));
      assertEquals(2, right.poll());
      while (right.done.size() < 5) {
        assertTrue(right.poll() > 0, () -> right.done.toString());
      }
      assertEquals(0, right.endpoint.send(0, 0, 0, 0, 1));
    }
  }

  @Test
  void transmitDepthIsALimit() {
    try (Simulation simulation = Simulation.of(Profile.TCP).open()) {
      FabricProvider provider = simulation.host(0).provider();
      FabricInfo info = provider.discover(FabricHints.any()).getFirst();
      Node node = new Node(provider, info, 100_000);
      node.know(node);
      while (node.endpoint.inject(0, 0, 0) == -FabricErrno.EAGAIN) {
        simulation.idle();
      }
      int posted = 1;
      while (node.endpoint.inject(0, 0, 0) == 0) {
        posted++;
      }
      assertEquals(info.limits().transmitDepth(), posted);
    }
  }

  @Test
  void fencedWritesStartWhenEarlierOnesAreComplete() {
    FaultPlan plan = FaultPlan.none().with(Fault.REORDER_WITHIN_RAIL, 0.5);
    for (long seed = 1; seed <= 50; seed++) {
      long of = seed;
      try (Pair pair = new Pair(Profile.CXI, builder -> builder.seed(of).faults(plan))) {
        MemoryRegion region = pair.right.register(pair.memory(64), Access.REMOTE_WRITE);
        for (int i = 0; i < 5; i++) {
          assertEquals(0, pair.left.endpoint.writeData(0, 0, 0, i, 0, 0, region.key(), i, 0));
        }
        assertEquals(
            0,
            pair.left.endpoint.writeData(
                0, 0, 0, 5, 0, 0, region.key(), 5, PostFlags.FENCE | PostFlags.DELIVERY_COMPLETE));
        pair.settle();
        assertEquals(6, pair.left.done.size());
        assertEquals(5, pair.left.done.getLast().context());
      }
    }
  }

  @Test
  void whatWaitedForAFenceLeavesAsAnyOtherDoes() {
    try (Pair pair = new Pair(Profile.CXI)) {
      MemoryRegion region = pair.right.register(pair.memory(64), Access.REMOTE_WRITE);
      long[] flags = {0, PostFlags.FENCE | PostFlags.DELIVERY_COMPLETE, 0};
      for (int i = 0; i < flags.length; i++) {
        assertEquals(0, pair.left.endpoint.writeData(0, 0, 0, i, 0, 0, region.key(), i, flags[i]));
      }
      while (!pair.left.has(0)) {
        pair.simulation.idle();
        if (!pair.simulation.host(0).nic(0).isDead() && pair.right.poll() > 0) {
          // The first has arrived; the fenced one may not leave before its acknowledgement.
          pair.simulation.host(0).nic(0).stall(Duration.ofMillis(3));
        }
        pair.left.poll();
      }
      long stalled = pair.simulation.nanoTime();
      while (!pair.right.has(CompletionQueue.NO_CONTEXT) || pair.right.done.size() < 3) {
        pair.simulation.idle();
        pair.right.poll();
      }
      assertTrue(pair.simulation.nanoTime() - stalled > 2_000_000, "left a stalled NIC");
      // Those behind a fence may overtake each other.
      List<Long> data = pair.right.done.stream().map(Node.Done::data).toList();
      assertEquals(0, data.getFirst());
      assertEquals(Set.of(0L, 1L, 2L), Set.copyOf(data));
    }
  }

  @Test
  void fencedWritesOfANicThatDiedFail() {
    try (Pair pair = new Pair(Profile.CXI)) {
      MemoryRegion region = pair.right.register(pair.memory(64), Access.REMOTE_WRITE);
      assertEquals(0, pair.left.endpoint.writeData(0, 0, 0, 0, 0, 0, region.key(), 0, 0));
      for (int i = 1; i < 4; i++) {
        assertEquals(
            0,
            pair.left.endpoint.writeData(
                0, 0, 0, i, 0, 0, region.key(), i, PostFlags.FENCE | PostFlags.DELIVERY_COMPLETE));
      }
      while (pair.right.poll() == 0) {
        pair.simulation.idle();
      }
      pair.simulation.host(0).nic(0).kill();
      pair.settle();
      assertEquals(1, pair.right.done.size(), pair.right.done::toString);
      for (int i = 1; i < 4; i++) {
        assertEquals(Profile.CXI.errors().unreachable(), pair.left.of(i).errno());
      }
    }
  }

  @Test
  void optionsAreThoseOfTheProvider() {
    try (Pair efa = new Pair(Profile.EFA);
        Pair cxi = new Pair(Profile.CXI)) {
      efa.left.endpoint.setOption(EndpointOption.SHARED_MEMORY_PERMITTED, 0);
      assertEquals(0, efa.left.endpoint.option(EndpointOption.SHARED_MEMORY_PERMITTED));
      FabricException refused =
          assertThrows(
              FabricException.class,
              () -> cxi.left.endpoint.setOption(EndpointOption.SHARED_MEMORY_PERMITTED, 0));
      assertEquals(FabricErrno.ENOPROTOOPT, refused.errno());
      assertThrows(
          FabricException.class,
          () ->
              cxi.left.domain.openEndpoint(
                  EndpointRequest.of("x", cxi.left.peers, cxi.left.queue)
                      .withOption(EndpointOption.MAX_MSG_SIZE, 1)));
      FabricException invalid =
          assertThrows(
              FabricException.class,
              () ->
                  efa.left.domain.openEndpoint(
                      EndpointRequest.of("x", efa.left.peers, efa.left.queue)
                          .withOption(EndpointOption.HMEM_P2P, 99)));
      assertEquals(FabricErrno.EINVAL, invalid.errno());
    }
  }

  @Test
  void loopbackWorks() {
    try (Pair pair = new Pair(Profile.EFA)) {
      long self = pair.left.know(pair.left);
      MemorySegment memory = filled(pair, 128, 3);
      MemoryRegion region = pair.left.register(memory, Access.ALL);
      assertEquals(
          0,
          pair.left.endpoint.writeData(
              memory.address(),
              64,
              region.descriptor(),
              1,
              self,
              pair.left.base(memory) + 64,
              region.key(),
              1,
              0));
      pair.settle();
      assertTrue(pair.left.has(1));
      assertTrue(pair.left.has(CompletionQueue.NO_CONTEXT));
    }
  }

  @Test
  void plansAreReadAsTheyAreWritten() {
    for (FaultPlan plan :
        List.of(
            FaultPlan.none(),
            FaultPlan.survivable(),
            FaultPlan.all(),
            FaultPlan.none().with(Fault.EAGAIN, 0.25).with(Fault.DEAD_PEER))) {
      FaultPlan read = FaultPlan.parse(plan.toString());
      for (Fault fault : Fault.values()) {
        assertEquals(plan.probability(fault), read.probability(fault), fault.option());
      }
    }
    assertEquals(0.5, FaultPlan.parse("survivable, eagain=0.5").probability(Fault.EAGAIN));
    for (String wrong : List.of("", "nonsense", "eagain=2", "eagain=x", "delay=NaN")) {
      assertThrows(IllegalArgumentException.class, () -> FaultPlan.parse(wrong), wrong);
    }
  }
}

package org.jofi.simulated;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import org.jofi.fabric.Access;
import org.jofi.fabric.AddressVector;
import org.jofi.fabric.BoundRegion;
import org.jofi.fabric.Capability;
import org.jofi.fabric.CompletionError;
import org.jofi.fabric.CompletionQueue;
import org.jofi.fabric.Endpoint;
import org.jofi.fabric.EndpointRequest;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.FabricHints;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.FabricProvider;
import org.jofi.fabric.MemoryKind;
import org.jofi.fabric.MemoryRegion;
import org.jofi.fabric.PostFlags;
import org.jofi.fabric.RegionRequest;
import org.jofi.fabric.UnboundRegion;
import org.jofi.simulated.contract.ContractViolationException;
import org.jofi.simulated.contract.Rule;
import org.jofi.simulated.contract.Strictness;
import org.jofi.simulated.fault.FaultPlan;
import org.jofi.simulated.profile.Profile;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** Breaks each contract, and sees it named. */
class ContractsTest {
  private static final Set<Rule> BROKEN = EnumSet.noneOf(Rule.class);

  @AfterAll
  static void everyRuleWasBroken() {
    assertEquals(EnumSet.allOf(Rule.class), BROKEN, "rules without a test that breaks them");
  }

  private static void assertBreaks(Rule rule, Executable call) {
    ContractViolationException violation =
        assertThrows(ContractViolationException.class, call, rule::text);
    assertNamed(rule, violation);
  }

  private static void assertNamed(Rule rule, ContractViolationException violation) {
    assertEquals(rule, violation.rule(), violation::getMessage);
    assertTrue(violation.getMessage().contains(rule.manPage()), violation::getMessage);
    assertTrue(violation.history().contains("opened"), violation::getMessage);
    BROKEN.add(rule);
  }

  private static Pair lenient(Profile profile) {
    return new Pair(profile, builder -> builder.strictness(Strictness.ERRNO));
  }

  // Registration.

  @Test
  void memoryIsMapped() {
    try (Pair pair = new Pair(Profile.EFA);
        Pair lenient = lenient(Profile.EFA)) {
      RegionRequest unmapped = RegionRequest.host(8192, 4096, Access.ALL);
      assertBreaks(Rule.MR_MAPPED, () -> pair.left.register(unmapped));
      assertThrows(IllegalArgumentException.class, () -> lenient.left.register(unmapped));
    }
  }

  @Test
  void registrationIsOfTheNegotiatedScope() {
    try (Pair cxi = new Pair(Profile.CXI);
        Pair tcp = new Pair(Profile.TCP)) {
      RegionRequest request = RegionRequest.host(cxi.memory(64), Access.ALL);
      assertBreaks(Rule.MR_SCOPE, () -> cxi.left.domain.register(request));
      assertBreaks(Rule.MR_SCOPE, () -> tcp.left.domain.registerForEndpoint(request));
    }
  }

  @Test
  void regionIsBoundOnce() {
    try (Pair pair = new Pair(Profile.CXI)) {
      UnboundRegion region = unbound(pair);
      region.bind(pair.left.endpoint);
      assertBreaks(Rule.MR_BIND_ONCE, () -> region.bind(pair.left.endpoint));
    }
  }

  @Test
  void regionIsBoundToAnOpenEndpointOfItsDomain() {
    try (Pair pair = new Pair(Profile.CXI);
        Pair lenient = lenient(Profile.CXI)) {
      UnboundRegion region = unbound(pair);
      assertBreaks(Rule.MR_BIND_ENDPOINT, () -> region.bind(pair.right.endpoint));
      pair.left.endpoint.close();
      assertBreaks(Rule.MR_BIND_ENDPOINT, () -> region.bind(pair.left.endpoint));
      UnboundRegion other = unbound(lenient);
      assertThrows(IllegalArgumentException.class, () -> other.bind(lenient.right.endpoint));
      lenient.left.endpoint.close();
      assertThrows(IllegalStateException.class, () -> other.bind(lenient.left.endpoint));
    }
  }

  @Test
  void regionIsEnabledOnce() {
    try (Pair pair = new Pair(Profile.CXI)) {
      BoundRegion bound = unbound(pair).bind(pair.left.endpoint);
      bound.enable();
      assertBreaks(Rule.MR_ENABLE_ONCE, bound::enable);
    }
  }

  @Test
  void requestedKeyIsUnique() {
    for (Profile profile : new Profile[] {Profile.TCP, Profile.CXI_CLIENT_KEY}) {
      try (Pair pair = new Pair(profile);
          Pair lenient = lenient(profile)) {
        RegionRequest request = RegionRequest.host(pair.memory(64), Access.ALL).withRequestedKey(7);
        registerRaw(pair, request);
        assertBreaks(Rule.MR_KEY_UNIQUE, () -> registerRaw(pair, request));
        AutoCloseable first = registerRaw(lenient, request);
        FabricException refused =
            assertThrows(FabricException.class, () -> registerRaw(lenient, request));
        assertEquals(FabricErrno.ENOKEY, refused.errno());
        closeQuietly(first);
        closeQuietly(registerRaw(lenient, request));
      }
    }
  }

  @Test
  void requestedKeyFits() {
    try (Pair pair = new Pair(Profile.CXI_CLIENT_KEY);
        Pair lenient = lenient(Profile.CXI_CLIENT_KEY)) {
      RegionRequest request =
          RegionRequest.host(pair.memory(64), Access.ALL).withRequestedKey(1L << 32);
      assertBreaks(Rule.MR_KEY_SIZE, () -> registerRaw(pair, request));
      FabricException refused =
          assertThrows(FabricException.class, () -> registerRaw(lenient, request));
      assertEquals(FabricErrno.EKEYREJECTED, refused.errno());
    }
  }

  @Test
  void onlyRemoteAccessHasAKey() {
    try (Pair pair = new Pair(Profile.EFA)) {
      MemoryRegion region = pair.left.register(pair.memory(64), Access.LOCAL);
      assertBreaks(Rule.MR_KEY_ACCESS, region::key);
    }
  }

  @Test
  void deviceMemoryIsOfANegotiatedKind() {
    try (Pair tcp = new Pair(Profile.TCP);
        Pair efa = new Pair(Profile.EFA);
        Pair lenient = lenient(Profile.TCP)) {
      MemorySegment device = efa.simulation.host(0).allocateDevice(MemoryKind.CUDA, 64);
      RegionRequest cuda =
          RegionRequest.device(MemoryKind.CUDA, 0, device.address(), 64, Access.ALL);
      assertBreaks(
          Rule.MR_MEMORY_KIND,
          () -> efa.left.register(RegionRequest.host(device.address(), 64, Access.ALL)));
      // A NIC that cannot says so, in either mode: that is how programs find out.
      for (Pair without : List.of(tcp, lenient)) {
        FabricException refused =
            assertThrows(FabricException.class, () -> without.left.register(cuda));
        assertEquals(FabricErrno.ENOSYS, refused.errno());
        assertEquals(List.of(), without.simulation.violations());
      }
    }
  }

  @Test
  void regionClosesWhenNothingUsesIt() {
    for (Profile profile : Profile.ALL) {
      try (Pair pair = new Pair(profile)) {
        MemorySegment memory = pair.memory(64);
        MemoryRegion receiving = pair.left.register(memory, Access.LOCAL);
        assertEquals(0, recv(pair, memory, receiving, 1));
        assertBreaks(Rule.MR_CLOSE_IN_USE, receiving::close);
        assertEquals(0, pair.left.endpoint.cancel(1));
        receiving.close();

        MemoryRegion sending = pair.left.register(memory, Access.LOCAL);
        connect(pair);
        assertEquals(0, send(pair, memory, sending, 2));
        assertBreaks(Rule.MR_CLOSE_IN_USE, sending::close);
      }
    }
  }

  @Test
  void closingAReceivingRegionIsBusyOrGoesAsTheProviderHasIt() {
    try (Pair efa = lenient(Profile.EFA);
        Pair cxi = lenient(Profile.CXI)) {
      MemorySegment memory = efa.memory(64);
      MemoryRegion busy = efa.left.register(memory, Access.LOCAL);
      assertEquals(0, recv(efa, memory, busy, 1));
      FabricException refused = assertThrows(FabricException.class, busy::close);
      assertEquals(FabricErrno.EBUSY, refused.errno());
      MemoryRegion goes = cxi.left.register(memory, Access.LOCAL);
      assertEquals(0, recv(cxi, memory, goes, 1));
      goes.close();
      assertEquals(1, cxi.simulation.violations().size());
    }
  }

  // Descriptors and buffers.

  @Test
  void descriptorIsThere() {
    try (Pair pair = new Pair(Profile.EFA);
        Pair lenient = lenient(Profile.EFA)) {
      MemorySegment memory = pair.memory(64);
      assertBreaks(
          Rule.DESCRIPTOR_REQUIRED, () -> pair.left.endpoint.send(memory.address(), 64, 0, 0, 1));
      assertEquals(-FabricErrno.EINVAL, lenient.left.endpoint.send(memory.address(), 64, 0, 0, 1));
    }
  }

  @Test
  void descriptorIsOfAnOpenRegionOfTheDomain() {
    try (Pair pair = new Pair(Profile.EFA)) {
      MemorySegment memory = pair.memory(64);
      MemoryRegion foreign = pair.right.register(memory, Access.LOCAL);
      MemoryRegion closed = pair.left.register(memory, Access.LOCAL);
      long stale = closed.descriptor();
      closed.close();
      for (long descriptor : new long[] {foreign.descriptor(), stale, 12345}) {
        assertBreaks(
            Rule.DESCRIPTOR_VALID,
            () -> pair.left.endpoint.send(memory.address(), 64, descriptor, 0, 1));
      }
    }
  }

  @Test
  void descriptorCoversTheBuffer() {
    try (Pair pair = new Pair(Profile.EFA)) {
      MemorySegment memory = pair.memory(128);
      MemoryRegion half = pair.left.register(memory.asSlice(0, 64), Access.LOCAL);
      assertBreaks(Rule.DESCRIPTOR_COVERS, () -> send(pair, memory.asSlice(1, 64), half, 1));
    }
  }

  @Test
  void descriptorAllowsTheOperation() {
    try (Pair pair = new Pair(Profile.EFA)) {
      MemorySegment memory = pair.memory(64);
      MemoryRegion receiving = pair.left.register(memory, Access.RECV);
      assertBreaks(Rule.DESCRIPTOR_ACCESS, () -> send(pair, memory, receiving, 1));
    }
  }

  @Test
  void descriptorIsOfThisEndpoint() {
    try (Pair pair = new Pair(Profile.CXI)) {
      MemorySegment memory = pair.memory(64);
      MemoryRegion region = pair.left.register(memory, Access.LOCAL);
      var other =
          pair.left.domain.openEndpoint(
              EndpointRequest.of("other", pair.left.peers, pair.left.queue));
      assertBreaks(
          Rule.DESCRIPTOR_ENDPOINT,
          () -> other.send(memory.address(), 64, region.descriptor(), 0, 1));
    }
  }

  @Test
  void deviceMemoryHasADescriptor() {
    try (Pair pair = new Pair(Profile.CXI)) {
      MemorySegment device = pair.simulation.host(0).allocateDevice(MemoryKind.CUDA, 64);
      assertBreaks(
          Rule.DEVICE_DESCRIPTOR, () -> pair.left.endpoint.send(device.address(), 64, 0, 0, 1));
    }
  }

  @Test
  void bufferIsMapped() {
    try (Pair pair = new Pair(Profile.CXI);
        Pair lenient = lenient(Profile.CXI)) {
      assertBreaks(Rule.BUFFER_MAPPED, () -> pair.left.endpoint.send(4096, 64, 0, 0, 1));
      assertEquals(-FabricErrno.EFAULT, lenient.left.endpoint.send(4096, 64, 0, 0, 1));
    }
  }

  @Test
  void bufferStaysAsItIs() {
    try (Pair pair = new Pair(Profile.EFA)) {
      MemorySegment memory = pair.memory(64);
      MemoryRegion region = pair.left.register(memory, Access.LOCAL);
      assertEquals(0, send(pair, memory, region, 1));
      pair.simulation.idle();
      memory.fill((byte) 1);
      assertBreaks(Rule.BUFFER_STABLE, pair.simulation::settle);
    }
  }

  @Test
  void inRealTimeAPollTellsOfAChangedBuffer() {
    assertBreaks(Rule.BUFFER_STABLE, () -> changeInFlight(Strictness.THROW));
    assertEquals(List.of(), changeInFlight(Strictness.ERRNO).violations());
  }

  private static SimulatedProvider changeInFlight(Strictness strictness) {
    SimulatedProvider provider = new SimulatedProvider(strictness, FaultPlan.none(), 1);
    Node node = new Node(provider, provider.discover(FabricHints.any()).getFirst(), 64);
    node.know(node);
    MemorySegment memory = Arena.ofAuto().allocate(64, 64);
    MemoryRegion region = node.register(memory, Access.LOCAL);
    for (int round = 0; round < 1000 && provider.violations().isEmpty(); round++) {
      int context = round % 32;
      assertEquals(0, node.endpoint.send(memory.address(), 64, region.descriptor(), 0, context));
      for (byte value = 0; !node.has(context); value++) {
        memory.fill(value);
        node.poll();
      }
      node.done.clear();
    }
    return provider;
  }

  // Posting.

  @Test
  void contextIsOneOfTheQueues() {
    try (Pair pair = new Pair(Profile.CXI);
        Pair lenient = lenient(Profile.CXI)) {
      for (int context : new int[] {-1, 64}) {
        assertBreaks(Rule.CONTEXT_RANGE, () -> pair.left.endpoint.send(0, 0, 0, 0, context));
        assertEquals(-FabricErrno.EINVAL, lenient.left.endpoint.send(0, 0, 0, 0, context));
        assertEquals(-FabricErrno.EINVAL, pair.left.endpoint.cancel(context));
      }
      assertEquals(-FabricErrno.EINVAL, pair.left.endpoint.send(0, -1, 0, 0, 1));
    }
  }

  @Test
  void contextIsFreeOnlyWhenPolled() {
    try (Pair pair = new Pair(Profile.CXI)) {
      assertEquals(0, pair.left.endpoint.send(0, 0, 0, 0, 1));
      assertBreaks(Rule.CONTEXT_REUSE, () -> pair.left.endpoint.send(0, 0, 0, 0, 1));
      pair.simulation.settle();
      assertBreaks(Rule.CONTEXT_REUSE, () -> pair.left.endpoint.send(0, 0, 0, 0, 1));
      pair.left.poll();
      assertEquals(0, pair.left.endpoint.send(0, 0, 0, 0, 1));
    }
  }

  @Test
  void peerIsKnown() {
    try (Pair pair = new Pair(Profile.CXI)) {
      for (long peer : new long[] {-1, 1, 99}) {
        assertBreaks(Rule.PEER_KNOWN, () -> pair.left.endpoint.send(0, 0, 0, peer, 1));
      }
      pair.left.peers.remove(0);
      assertBreaks(Rule.PEER_KNOWN, () -> pair.left.endpoint.inject(0, 0, 0));
      assertBreaks(Rule.PEER_KNOWN, () -> pair.left.peers.remove(0));
    }
  }

  @Test
  void peerIsRemovedWhenNothingIsInFlight() {
    try (Pair pair = new Pair(Profile.CXI);
        Pair lenient = lenient(Profile.CXI)) {
      assertEquals(0, pair.left.endpoint.send(0, 0, 0, 0, 1));
      assertBreaks(Rule.PEER_REMOVE_IN_FLIGHT, () -> pair.left.peers.remove(0));
      pair.settle();
      pair.left.peers.remove(0);
      assertEquals(0, lenient.left.endpoint.send(0, 0, 0, 0, 1));
      assertThrows(FabricException.class, () -> lenient.left.peers.remove(0));
    }
  }

  @Test
  void addressHasTheProvidersLength() {
    for (Profile profile : Profile.ALL) {
      try (Pair pair = new Pair(profile)) {
        byte[] address = pair.right.endpoint.address();
        assertEquals(profile.negotiation().addressBytes(), address.length);
        assertBreaks(
            Rule.ADDRESS_LENGTH,
            () -> pair.left.peers.insert(java.util.Arrays.copyOf(address, address.length - 1)));
      }
    }
  }

  @Test
  void directedReceiveNeedsItsCapability() {
    for (Profile profile : Profile.ALL) {
      // Nobody asked for it.
      try (Pair pair = new Pair(profile);
          Pair lenient = lenient(profile)) {
        assertBreaks(Rule.DIRECTED_RECEIVE, () -> pair.left.endpoint.recv(0, 0, 0, 0, 1));
        assertEquals(0, pair.left.endpoint.recv(0, 0, 0, AddressVector.ANY, 1));
        assertEquals(-FabricErrno.EOPNOTSUPP, lenient.left.endpoint.recv(0, 0, 0, 0, 1));
      }
    }
    FabricHints hints =
        FabricHints.any()
            .withRequired(EnumSet.of(Capability.MSG, Capability.RMA, Capability.DIRECTED_RECV));
    try (Simulation simulation = Simulation.of(Profile.CXI).open()) {
      FabricProvider provider = simulation.host(0).provider();
      Node directed = new Node(provider, provider.discover(hints).getFirst(), 64);
      assertEquals(0, directed.endpoint.recv(0, 0, 0, directed.know(directed), 1));
    }
  }

  @Test
  void flagsAreKnown() {
    try (Pair pair = new Pair(Profile.CXI)) {
      assertBreaks(Rule.POST_FLAGS, () -> pair.left.endpoint.write(0, 0, 0, 0, 0, 0, 1, 1L << 40));
    }
  }

  @Test
  void fenceNeedsItsCapability() {
    try (Pair pair = new Pair(Profile.EFA)) {
      assertBreaks(
          Rule.FENCE, () -> pair.left.endpoint.write(0, 0, 0, 0, 0, 0, 1, PostFlags.FENCE));
    }
  }

  // Trees.

  @Test
  void queuesAndVectorsAreOfTheDomain() {
    try (Pair pair = new Pair(Profile.EFA);
        Pair lenient = lenient(Profile.EFA)) {
      assertBreaks(
          Rule.SAME_DOMAIN,
          () ->
              pair.left.domain.openEndpoint(
                  EndpointRequest.of("wrong", pair.right.peers, pair.left.queue)));
      assertBreaks(
          Rule.SAME_DOMAIN,
          () ->
              pair.left.domain.openEndpoint(
                  EndpointRequest.of("wrong", pair.left.peers, pair.right.queue)));
      assertThrows(
          IllegalArgumentException.class,
          () ->
              lenient.left.domain.openEndpoint(
                  EndpointRequest.of("wrong", lenient.right.peers, lenient.left.queue)));
    }
  }

  @Test
  void childrenCloseBeforeTheirParents() {
    try (Pair pair = new Pair(Profile.EFA);
        Pair lenient = lenient(Profile.EFA)) {
      assertBreaks(Rule.CLOSE_ORDER, pair.left.fabric::close);
      assertBreaks(Rule.CLOSE_ORDER, pair.left.domain::close);
      assertBreaks(Rule.CLOSE_ORDER, pair.left.queue::close);
      assertBreaks(Rule.CLOSE_ORDER, pair.left.peers::close);
      FabricException refused = assertThrows(FabricException.class, lenient.left.domain::close);
      assertEquals(FabricErrno.EBUSY, refused.errno());
      assertTrue(refused.getMessage().contains("endpoint test"), refused::getMessage);
    }
  }

  @Test
  void boundRegionsCloseBeforeTheirEndpoint() {
    try (Pair pair = new Pair(Profile.CXI)) {
      MemoryRegion region = pair.left.register(pair.memory(64), Access.ALL);
      assertBreaks(Rule.CLOSE_ENDPOINT_REGIONS, pair.left.endpoint::close);
      region.close();
      pair.left.endpoint.close();
      pair.left.endpoint.close();
    }
  }

  @Test
  void nothingIsUsedAfterItWasClosed() {
    try (Pair pair = new Pair(Profile.EFA)) {
      Node left = pair.left;
      MemoryRegion region = left.register(pair.memory(64), Access.ALL);
      region.close();
      assertBreaks(Rule.USE_AFTER_CLOSE, region::key);
      assertBreaks(Rule.USE_AFTER_CLOSE, region::descriptor);
      left.endpoint.close();
      assertBreaks(Rule.USE_AFTER_CLOSE, () -> left.endpoint.send(0, 0, 0, 0, 1));
      left.queue.close();
      assertBreaks(Rule.USE_AFTER_CLOSE, left::poll);
      left.peers.close();
      assertBreaks(Rule.USE_AFTER_CLOSE, () -> left.peers.insert(new byte[32]));
      left.domain.close();
      assertBreaks(Rule.USE_AFTER_CLOSE, () -> left.domain.openAddressVector(1));
      assertBreaks(Rule.USE_AFTER_CLOSE, () -> left.register(pair.memory(64), Access.ALL));
      left.fabric.close();
      assertBreaks(Rule.USE_AFTER_CLOSE, left.fabric::openDomain);
    }
  }

  @Test
  void queueIsNotPolledFromItsSink() {
    try (Pair pair = new Pair(Profile.CXI)) {
      assertEquals(0, pair.left.endpoint.send(0, 0, 0, 0, 1));
      pair.simulation.settle();
      CompletionQueue queue = pair.left.queue;
      assertBreaks(Rule.POLL_REENTRANT, () -> queue.poll(new Reentrant(queue), 1));
    }
  }

  @Test
  void oneThreadAtATimeUsesAGroup() throws InterruptedException {
    SimulatedProvider provider = new SimulatedProvider(Strictness.THROW, FaultPlan.none(), 1);
    Node node = new Node(provider, provider.discover(FabricHints.any()).getFirst(), 8);
    node.know(node);
    try (var memory = java.lang.foreign.Arena.ofConfined()) {
      MemorySegment buffer = memory.allocate(64);
      MemoryRegion region = node.register(buffer, Access.LOCAL);
      assertEquals(0, node.endpoint.send(buffer.address(), 0, region.descriptor(), 0, 1));
      CountDownLatch inside = new CountDownLatch(1);
      CountDownLatch leave = new CountDownLatch(1);
      Thread poller =
          Thread.ofPlatform()
              .start(
                  () -> {
                    Holding sink = new Holding(inside, leave);
                    while (node.queue.poll(sink, 1) == 0) {
                      Thread.onSpinWait();
                    }
                  });
      inside.await();
      try {
        assertBreaks(
            Rule.ONE_THREAD,
            () -> node.endpoint.send(buffer.address(), 0, region.descriptor(), 0, 2));
        // Not a poll from a sink: another thread's.
        assertBreaks(Rule.ONE_THREAD, node::poll);
        assertBreaks(Rule.ONE_THREAD, node.endpoint::close);
        assertBreaks(Rule.ONE_THREAD, node.queue::close);
        assertTrue(provider.violations().size() >= 4, () -> provider.violations().toString());
      } finally {
        leave.countDown();
        poller.join();
      }
      node.endpoint.close();
      region.close();
      node.queue.close();
      node.peers.close();
      node.domain.close();
      node.fabric.close();
    }
  }

  @Test
  void postsEnterTheGroupOfTheReceiveQueueToo() throws InterruptedException {
    SimulatedProvider provider = new SimulatedProvider(Strictness.THROW, FaultPlan.none(), 1);
    FabricInfo info = provider.discover(FabricHints.any()).getFirst();
    Node node = new Node(provider, info, 8);
    CompletionQueue transmits = node.domain.openCompletionQueue(8, 8);
    Endpoint split =
        node.domain.openEndpoint(
            new EndpointRequest("split", node.peers, transmits, node.queue, Map.of()));
    long self = node.peers.insert(split.address());
    assertEquals(0, split.recv(0, 0, 0, AddressVector.ANY, 1));
    assertEquals(0, split.inject(0, 0, self));
    CountDownLatch inside = new CountDownLatch(1);
    CountDownLatch leave = new CountDownLatch(1);
    Thread poller =
        Thread.ofPlatform()
            .start(
                () -> {
                  Holding sink = new Holding(inside, leave);
                  while (node.queue.poll(sink, 1) == 0) {
                    Thread.onSpinWait();
                  }
                });
    inside.await();
    try {
      assertBreaks(Rule.ONE_THREAD, () -> split.recv(0, 0, 0, AddressVector.ANY, 2));
    } finally {
      leave.countDown();
      poller.join();
    }
    assertEquals(0, split.recv(0, 0, 0, AddressVector.ANY, 2));
    split.close();
    transmits.close();
    node.endpoint.close();
    node.queue.close();
    node.peers.close();
    node.domain.close();
    node.fabric.close();
  }

  /** A sink that stays inside until it may leave. */
  private record Holding(CountDownLatch inside, CountDownLatch leave)
      implements CompletionQueue.Sink {
    @Override
    public void completed(int context, long flags, long lengthBytes, long data) {
      inside.countDown();
      try {
        leave.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    @Override
    public void failed(CompletionError error) {
      completed(error.context(), 0, 0, 0);
    }
  }

  /** A sink that polls. */
  private record Reentrant(CompletionQueue queue) implements CompletionQueue.Sink {
    @Override
    public void completed(int context, long flags, long lengthBytes, long data) {
      queue.poll(this, 1);
    }

    @Override
    public void failed(CompletionError error) {
      throw new AssertionError(error.toException());
    }
  }

  private static UnboundRegion unbound(Pair pair) {
    return pair.left.domain.registerForEndpoint(RegionRequest.host(pair.memory(64), Access.ALL));
  }

  private static AutoCloseable registerRaw(Pair pair, RegionRequest request) {
    return pair.left.info.mrModes().contains(org.jofi.fabric.MrMode.ENDPOINT)
        ? pair.left.domain.registerForEndpoint(request)
        : pair.left.domain.register(request);
  }

  private static void closeQuietly(AutoCloseable closeable) {
    try {
      closeable.close();
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  private static int send(Pair pair, MemorySegment memory, MemoryRegion region, int context) {
    return pair.left.endpoint.send(
        memory.address(), memory.byteSize(), region.descriptor(), 0, context);
  }

  private static int recv(Pair pair, MemorySegment memory, MemoryRegion region, int context) {
    return pair.left.endpoint.recv(
        memory.address(), memory.byteSize(), region.descriptor(), AddressVector.ANY, context);
  }

  /** The first operations to a tcp peer get EAGAIN until the connection stands. */
  private static void connect(Pair pair) {
    while (pair.left.endpoint.inject(0, 0, 0) == -FabricErrno.EAGAIN) {
      pair.simulation.idle();
    }
  }
}

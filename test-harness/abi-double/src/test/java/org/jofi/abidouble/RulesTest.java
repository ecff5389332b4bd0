package org.jofi.abidouble;

import static org.jofi.libfabric.bindings.LibfabricConstants.FI_RECV;
import static org.jofi.libfabric.bindings.LibfabricConstants.FI_TRANSMIT;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.function.Consumer;
import org.jofi.fabric.Access;
import org.jofi.fabric.FabricErrno;
import org.jofi.libfabric.bindings.Libfabric;
import org.jofi.libfabric.bindings.fi_domain_attr;
import org.jofi.libfabric.bindings.fi_info;
import org.jofi.libfabric.bindings.fi_mr_attr;
import org.jofi.libfabric.bindings.fi_msg_rma;
import org.jofi.libfabric.bindings.fi_ops_ep;
import org.jofi.libfabric.bindings.fi_rma_iov;
import org.jofi.libfabric.bindings.fid_ep;
import org.jofi.libfabric.bindings.iovec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Each rule is broken by a driver that calls what it likes, and exactly that rule is recorded. */
@Timeout(60)
class RulesTest {
  private AbiDouble library = new AbiDouble(DoubleSettings.cxi());
  private RawDriver driver = new RawDriver(library);
  private final MemorySegment memory = driver.arena.allocate(8192, 4096);
  private final MemorySegment half = memory.asSlice(0, 4096);

  /** Starts again with other settings. */
  private void over(DoubleSettings settings) {
    driver.closeAll();
    library.requireClean();
    library = new AbiDouble(settings);
    driver = new RawDriver(library);
  }

  /** All that was broken so far; what the tests leave open is none of it. */
  private void broken(Rule... rules) {
    assertEquals(
        List.of(rules),
        library.violations().stream().map(Violation::rule).toList(),
        () -> library.violations().toString());
  }

  /** What was refused did no harm: everything closes in order, and nothing more is recorded. */
  private void closes(MemorySegment... objects) {
    List<Violation> before = library.violations();
    for (MemorySegment object : objects) {
      assertEquals(0, driver.close(object));
    }
    driver.closeAll();
    assertEquals(before, library.verdict());
  }

  @AfterEach
  void free() {
    driver.arena.close();
  }

  @Test
  void nothingIsWrongWithTheRightOrder() {
    MemorySegment endpoint = driver.enabledEndpoint();
    long self = driver.insert(endpoint);
    MemorySegment region = driver.enabledRegion(memory, Access.ALL, 0, endpoint);
    memory.fill((byte) 7);
    long key = RawDriver.key(region);
    assertEquals(0, driver.write(endpoint, half, RawDriver.descriptor(region), self, 4096, key));
    driver.complete(1);
    assertEquals(0, driver.recv(endpoint, memory.asSlice(4096), RawDriver.descriptor(region)));
    assertEquals(0, driver.send(endpoint, half, RawDriver.descriptor(region), self));
    driver.complete(2);
    assertEquals(-1, memory.mismatch(driver.arena.allocate(8192).fill((byte) 7)));
    closes(region, endpoint);
    library.requireClean();
    assertTrue(library.calls().get("fi_write") >= 1, () -> library.calls().toString());
  }

  @Test
  void missingBind() {
    MemorySegment endpoint = driver.enabledEndpoint();
    MemorySegment region = driver.register(memory);
    assertEquals(-FabricErrno.EINVAL, driver.enable(region));
    broken(Rule.MISSING_BIND);
    Violation violation = library.violations().getFirst();
    assertTrue(violation.history().getFirst().contains("fi_mr_regattr"), violation::toString);
    assertTrue(violation.toString().contains("fi_mr(3)"), violation::toString);
    closes(region, endpoint);
  }

  @Test
  void bindAfterEnable() {
    MemorySegment endpoint = driver.enabledEndpoint();
    MemorySegment region = driver.enabledRegion(memory, Access.ALL, 0, endpoint);
    assertEquals(-FabricErrno.EINVAL, driver.bind(region, endpoint, 0));
    broken(Rule.BIND_AFTER_ENABLE);
    closes(region, endpoint);
  }

  @Test
  void twoEndpointsOnOneRegion() {
    MemorySegment one = driver.enabledEndpoint();
    MemorySegment other = driver.enabledEndpoint();
    MemorySegment region = driver.register(memory);
    assertEquals(0, driver.bind(region, one, 0));
    assertEquals(-FabricErrno.EINVAL, driver.bind(region, other, 0));
    broken(Rule.SECOND_ENDPOINT);
    closes(region, one, other);
  }

  @Test
  void keyReadBeforeEnable() {
    MemorySegment endpoint = driver.enabledEndpoint();
    long self = driver.insert(endpoint);
    MemorySegment source = driver.enabledRegion(memory, Access.ALL, 0, endpoint);
    MemorySegment region = driver.register(memory);
    assertEquals(0, driver.bind(region, endpoint, 0));
    long early = RawDriver.key(region);
    assertEquals(0, driver.enable(region));
    assertNotEquals(early, RawDriver.key(region));
    assertEquals(
        -FabricErrno.EINVAL,
        driver.write(endpoint, half, RawDriver.descriptor(source), self, 0, early));
    broken(Rule.READ_BEFORE_ENABLE);
    closes(region, source, endpoint);
  }

  @Test
  void ownKeyUsedBeforeEnable() {
    over(DoubleSettings.cxiWithClientKeys());
    MemorySegment endpoint = driver.enabledEndpoint();
    long self = driver.insert(endpoint);
    MemorySegment source = driver.enabledRegion(memory, Access.ALL, 1, endpoint);
    MemorySegment region = driver.register(memory, Access.ALL, 2);
    assertEquals(0, driver.bind(region, endpoint, 0));
    assertEquals(
        -FabricErrno.EINVAL,
        driver.write(endpoint, half, RawDriver.descriptor(source), self, 0, 2));
    broken(Rule.READ_BEFORE_ENABLE);
    closes(region, source, endpoint);
  }

  @Test
  void descriptorReadBeforeEnable() {
    MemorySegment endpoint = driver.enabledEndpoint();
    MemorySegment region = driver.register(memory);
    assertEquals(0, driver.bind(region, endpoint, 0));
    MemorySegment early = RawDriver.descriptor(region);
    assertEquals(0, driver.enable(region));
    assertEquals(-FabricErrno.EINVAL, driver.recv(endpoint, memory, early));
    broken(Rule.READ_BEFORE_ENABLE);
    closes(region, endpoint);
  }

  @Test
  void regionClosedAfterItsEndpoint() {
    MemorySegment endpoint = driver.enabledEndpoint();
    MemorySegment region = driver.enabledRegion(memory, Access.ALL, 0, endpoint);
    assertEquals(-FabricErrno.EBUSY, driver.close(endpoint));
    broken(Rule.REGION_OUTLIVES_ENDPOINT);
    closes(region, endpoint);
  }

  @Test
  void dataRailsRegionOnAControlRail() {
    MemorySegment data = driver.enabledEndpoint();
    MemorySegment control = driver.enabledEndpoint();
    long peer = driver.insert(control);
    MemorySegment region = driver.enabledRegion(memory, Access.ALL, 0, data);
    MemorySegment descriptor = RawDriver.descriptor(region);
    assertEquals(-FabricErrno.EINVAL, driver.recv(control, memory, descriptor));
    assertEquals(-FabricErrno.EINVAL, driver.send(control, memory, descriptor, peer));
    broken(Rule.OTHER_ENDPOINTS_REGION, Rule.OTHER_ENDPOINTS_REGION);
    closes(region, data, control);
  }

  @Test
  void keyOfTheDataRailTargetsTheControlRail() {
    MemorySegment data = driver.enabledEndpoint();
    MemorySegment control = driver.enabledEndpoint();
    long peer = driver.insert(control);
    MemorySegment region = driver.enabledRegion(memory, Access.ALL, 0, data);
    MemorySegment source = driver.enabledRegion(memory, Access.ALL, 0, control);
    assertEquals(
        -FabricErrno.EINVAL,
        driver.write(control, half, RawDriver.descriptor(source), peer, 0, RawDriver.key(region)));
    broken(Rule.REMOTE_KEY);
    assertTrue(library.violations().getFirst().detail().contains("another endpoint's region"));
    closes(region, source, data, control);
  }

  @Test
  void keyReusedWhileLive() {
    over(DoubleSettings.cxiWithClientKeys());
    MemorySegment region = driver.register(memory, Access.ALL, 17);
    assertEquals(-FabricErrno.ENOKEY, driver.tryRegister(driver.attributes(half, Access.SEND, 17)));
    broken(Rule.KEY_IN_USE);
    assertEquals(0, driver.close(region));
    closes(driver.register(memory, Access.ALL, 17));
  }

  @Test
  void keyTooWide() {
    over(DoubleSettings.cxiWithClientKeys());
    assertEquals(
        -FabricErrno.EKEYREJECTED,
        driver.tryRegister(driver.attributes(half, Access.ALL, 1L << 32)));
    broken(Rule.KEY_TOO_WIDE);
    closes();
  }

  @Test
  void endpointNotEnabled() {
    MemorySegment endpoint = driver.boundEndpoint();
    MemorySegment region = driver.register(memory);
    assertEquals(-FabricErrno.EINVAL, driver.bind(region, endpoint, 0));
    broken(Rule.ENDPOINT_NOT_ENABLED);
    closes(region, endpoint);
  }

  @Test
  void bindWithFlagsOrToSomethingElse() {
    MemorySegment endpoint = driver.enabledEndpoint();
    MemorySegment region = driver.register(memory);
    assertEquals(-FabricErrno.EINVAL, driver.bind(region, endpoint, 1));
    assertEquals(-FabricErrno.EINVAL, driver.bind(region, driver.queue, 0));
    assertEquals(-FabricErrno.EINVAL, driver.bind(region, memory, 0));
    broken(Rule.BIND_ARGUMENTS, Rule.POINTER, Rule.POINTER);
    closes(region, endpoint);
  }

  @Test
  void bindToAnEndpointOfAnotherDomain() {
    MemorySegment endpoint = driver.enabledEndpoint();
    MemorySegment region = driver.register(memory);
    RawDriver elsewhere = new RawDriver(library);
    MemorySegment foreign = elsewhere.enabledEndpoint();
    assertEquals(-FabricErrno.EINVAL, driver.bind(region, foreign, 0));
    broken(Rule.BIND_ARGUMENTS);
    assertEquals(0, elsewhere.close(foreign));
    elsewhere.closeAll();
    elsewhere.arena.close();
    closes(region, endpoint);
  }

  @Test
  void regionsKnowNoOtherCommandThanEnable() {
    MemorySegment region = driver.register(memory);
    assertEquals(-FabricErrno.EINVAL, driver.control(region, 1));
    broken(Rule.CONTROL_COMMAND);
    closes(region);
  }

  @Test
  void attributesThatMakeNoSense() {
    List<Consumer<MemorySegment>> mistakes =
        List.of(
            attributes -> fi_mr_attr.iov_count(attributes, 2),
            attributes -> fi_mr_attr.mr_iov(attributes, MemorySegment.NULL),
            attributes -> iovec.iov_len(Pointers.struct(fi_mr_attr.mr_iov(attributes)), 0),
            attributes -> fi_mr_attr.access(attributes, 0),
            attributes -> fi_mr_attr.access(attributes, 1L << 40),
            attributes -> fi_mr_attr.offset(attributes, 64),
            attributes -> fi_mr_attr.iface(attributes, 1),
            attributes -> fi_mr_attr.auth_key_size(attributes, 4),
            attributes -> fi_mr_attr.base_mr(attributes, memory));
    for (int i = 0; i < mistakes.size(); i++) {
      MemorySegment attributes = driver.attributes(memory, Access.ALL, 0);
      mistakes.get(i).accept(attributes);
      assertEquals(-FabricErrno.EINVAL, driver.tryRegister(attributes), "mistake " + i);
      assertEquals(Rule.REGION_ATTRIBUTES, library.violations().getLast().rule(), "mistake " + i);
    }
    MemorySegment result = driver.arena.allocate(ValueLayout.ADDRESS);
    assertEquals(
        -FabricErrno.EINVAL,
        driver.tryRegister(driver.attributes(memory, Access.ALL, 0), 1, result));
    assertEquals(mistakes.size() + 1, library.violations().size());
    closes();
  }

  @Test
  void memoryThatIsNotMapped() {
    MemorySegment nowhere = Pointers.memory(0x10_0000, 4096);
    assertEquals(
        -FabricErrno.EFAULT, driver.tryRegister(driver.attributes(nowhere, Access.ALL, 0)));
    broken(Rule.NOT_ALLOCATED);
    closes();
  }

  @Test
  void descriptorsOfNobodyAndOfClosedRegions() {
    MemorySegment endpoint = driver.enabledEndpoint();
    MemorySegment region = driver.enabledRegion(memory, Access.ALL, 0, endpoint);
    MemorySegment descriptor = RawDriver.descriptor(region);
    assertEquals(0, driver.close(region));
    assertEquals(-FabricErrno.EINVAL, driver.recv(endpoint, memory, descriptor));
    assertEquals(-FabricErrno.EINVAL, driver.recv(endpoint, memory, RawDriver.descriptor(region)));
    assertEquals(-FabricErrno.EINVAL, driver.recv(endpoint, memory, memory));
    broken(Rule.CLOSED_DESCRIPTOR, Rule.CLOSED_DESCRIPTOR, Rule.UNKNOWN_DESCRIPTOR);
    closes(endpoint);
  }

  @Test
  void missingDescriptor() {
    over(DoubleSettings.cxi().withLocalDescriptors());
    MemorySegment endpoint = driver.enabledEndpoint();
    assertEquals(-FabricErrno.EINVAL, driver.recv(endpoint, memory, MemorySegment.NULL));
    broken(Rule.MISSING_DESCRIPTOR);
    closes(endpoint);
  }

  @Test
  void localRange() {
    MemorySegment endpoint = driver.enabledEndpoint();
    MemorySegment region = driver.enabledRegion(half, Access.ALL, 0, endpoint);
    MemorySegment descriptor = RawDriver.descriptor(region);
    assertEquals(-FabricErrno.EINVAL, driver.recv(endpoint, memory, descriptor));
    assertEquals(-FabricErrno.EINVAL, driver.recv(endpoint, memory.asSlice(4096, 8), descriptor));
    broken(Rule.LOCAL_RANGE, Rule.LOCAL_RANGE);
    closes(region, endpoint);
  }

  @Test
  void localAccess() {
    MemorySegment endpoint = driver.enabledEndpoint();
    long self = driver.insert(endpoint);
    MemorySegment region = driver.enabledRegion(memory, Access.SEND, 0, endpoint);
    MemorySegment target = driver.enabledRegion(memory, Access.REMOTE, 0, endpoint);
    MemorySegment descriptor = RawDriver.descriptor(region);
    long key = RawDriver.key(target);
    assertEquals(-FabricErrno.EINVAL, driver.recv(endpoint, half, descriptor));
    assertEquals(-FabricErrno.EINVAL, driver.write(endpoint, half, descriptor, self, 0, key));
    assertEquals(-FabricErrno.EINVAL, driver.read(endpoint, half, descriptor, self, 0, key));
    assertEquals(
        -FabricErrno.EINVAL, driver.send(endpoint, half, RawDriver.descriptor(target), self));
    broken(Rule.LOCAL_ACCESS, Rule.LOCAL_ACCESS, Rule.LOCAL_ACCESS, Rule.LOCAL_ACCESS);
    closes(region, target, endpoint);
  }

  @Test
  void remoteKeysThatNobodyHas() {
    MemorySegment endpoint = driver.enabledEndpoint();
    long self = driver.insert(endpoint);
    assertEquals(
        -FabricErrno.EINVAL, driver.write(endpoint, half, MemorySegment.NULL, self, 0, 0x1234));
    broken(Rule.REMOTE_KEY);
    closes(endpoint);
  }

  @Test
  void remoteKeyOfAClosedRegion() {
    MemorySegment endpoint = driver.enabledEndpoint();
    long self = driver.insert(endpoint);
    MemorySegment region = driver.enabledRegion(memory, Access.ALL, 0, endpoint);
    long key = RawDriver.key(region);
    assertEquals(0, driver.close(region));
    assertEquals(0, driver.write(endpoint, half, MemorySegment.NULL, self, 0, key));
    assertEquals(FabricErrno.EIO, driver.error());
    assertEquals(0, driver.read(endpoint, half, MemorySegment.NULL, self, 0, key));
    assertEquals(FabricErrno.EIO, driver.error());
    broken(Rule.REMOTE_KEY_CLOSED, Rule.REMOTE_KEY_CLOSED);
    closes(endpoint);
  }

  @Test
  void remoteRangeAndAccess() {
    MemorySegment endpoint = driver.enabledEndpoint();
    long self = driver.insert(endpoint);
    MemorySegment region = driver.enabledRegion(half, Access.REMOTE_READ, 0, endpoint);
    long key = RawDriver.key(region);
    assertEquals(
        -FabricErrno.EINVAL, driver.read(endpoint, half, MemorySegment.NULL, self, 1, key));
    assertEquals(
        -FabricErrno.EINVAL,
        driver.read(endpoint, half, MemorySegment.NULL, self, half.address(), key));
    assertEquals(
        -FabricErrno.EINVAL, driver.write(endpoint, half, MemorySegment.NULL, self, 0, key));
    broken(Rule.REMOTE_RANGE, Rule.REMOTE_RANGE, Rule.REMOTE_ACCESS);
    closes(region, endpoint);
  }

  @Test
  void messagesThatMakeNoSense() {
    MemorySegment endpoint = driver.enabledEndpoint();
    long self = driver.insert(endpoint);
    MemorySegment message = driver.arena.allocate(256, 16);
    MemorySegment local = driver.arena.allocate(iovec.layout());
    MemorySegment remote = driver.arena.allocate(fi_rma_iov.layout());
    iovec.iov_base(local, memory);
    iovec.iov_len(local, 8);
    fi_rma_iov.len(remote, 16);
    fi_msg_rma.msg_iov(message, local);
    fi_msg_rma.iov_count(message, 1);
    fi_msg_rma.rma_iov(message, remote);
    fi_msg_rma.rma_iov_count(message, 1);
    fi_msg_rma.addr(message, self);
    assertEquals(-FabricErrno.EINVAL, driver.writeMessage(endpoint, message, 0));
    fi_rma_iov.len(remote, 8);
    assertEquals(-FabricErrno.EINVAL, driver.writeMessage(endpoint, message, 1L << 60));
    assertEquals(-FabricErrno.EINVAL, driver.send(endpoint, half, MemorySegment.NULL, self + 1));
    broken(Rule.MESSAGE, Rule.MESSAGE, Rule.MESSAGE);
    closes(endpoint);
  }

  @Test
  void contextsThatAreMissingOrInUse() {
    MemorySegment endpoint = driver.enabledEndpoint();
    MemorySegment context = driver.context();
    assertEquals(
        -FabricErrno.EINVAL, driver.recv(endpoint, half, MemorySegment.NULL, MemorySegment.NULL));
    assertEquals(0, driver.recv(endpoint, half, MemorySegment.NULL, context));
    assertEquals(-FabricErrno.EINVAL, driver.recv(endpoint, half, MemorySegment.NULL, context));
    broken(Rule.CONTEXT, Rule.CONTEXT);
    closes(endpoint);
  }

  @Test
  void closedInFlight() {
    MemorySegment endpoint = driver.enabledEndpoint();
    MemorySegment region = driver.enabledRegion(memory, Access.ALL, 0, endpoint);
    assertEquals(0, driver.recv(endpoint, half, RawDriver.descriptor(region)));
    assertEquals(0, driver.close(region));
    broken(Rule.CLOSED_IN_FLIGHT);
    closes(endpoint);
  }

  @Test
  void endpointsBindEnableAndPostInThisOrder() {
    MemorySegment endpoint = driver.openEndpoint();
    assertEquals(0, driver.bind(endpoint, driver.vector, 0));
    assertEquals(-FabricErrno.EINVAL, driver.enable(endpoint));
    assertEquals(-FabricErrno.ENOSYS, driver.recv(endpoint, half, MemorySegment.NULL));
    MemorySegment enabled = driver.enabledEndpoint();
    assertEquals(-FabricErrno.EINVAL, driver.bind(enabled, driver.vector, 0));
    assertEquals(-FabricErrno.EINVAL, driver.enable(enabled));
    broken(Rule.ENDPOINT_ORDER, Rule.ENDPOINT_ORDER, Rule.ENDPOINT_ORDER, Rule.ENDPOINT_ORDER);
    assertEquals(-FabricErrno.EINVAL, driver.bind(endpoint, driver.queue, 0));
    assertEquals(Rule.BIND_ARGUMENTS, library.violations().getLast().rule());
    // libfabric 1.17 crashes when it closes an endpoint that has no queue.
    assertEquals(0, driver.bind(endpoint, driver.queue, FI_TRANSMIT() | FI_RECV()));
    closes(endpoint, enabled);
  }

  @Test
  void whatCarriesSomethingDoesNotClose() {
    MemorySegment endpoint = driver.enabledEndpoint();
    for (MemorySegment base : List.of(driver.queue, driver.vector, driver.domain, driver.fabric)) {
      assertEquals(-FabricErrno.EBUSY, driver.close(base));
    }
    broken(Rule.CLOSE_ORDER, Rule.CLOSE_ORDER, Rule.CLOSE_ORDER, Rule.CLOSE_ORDER);
    closes(endpoint);
  }

  @Test
  void nothingIsUsedAfterItClosed() {
    MemorySegment endpoint = driver.enabledEndpoint();
    MemorySegment region = driver.register(memory);
    assertEquals(0, driver.close(region));
    assertEquals(-FabricErrno.EINVAL, driver.close(region));
    assertEquals(-FabricErrno.EINVAL, driver.enable(region));
    assertEquals(-FabricErrno.EINVAL, driver.bind(region, endpoint, 0));
    assertEquals(0, driver.close(endpoint));
    assertEquals(-FabricErrno.EINVAL, driver.recv(endpoint, half, MemorySegment.NULL));
    broken(Rule.USE_AFTER_CLOSE, Rule.USE_AFTER_CLOSE, Rule.USE_AFTER_CLOSE, Rule.USE_AFTER_CLOSE);
    closes();
  }

  @Test
  void infosAreThoseThatWereHandedOut() {
    MemorySegment other = Libfabric.fi_dupinfo(driver.info);
    fi_domain_attr.mr_mode(Pointers.struct(fi_info.domain_attr(Pointers.struct(other))), 0);
    MemorySegment result = driver.arena.allocate(ValueLayout.ADDRESS);
    assertEquals(-FabricErrno.EINVAL, driver.tryDomain(other, result));
    broken(Rule.INFO);
    Libfabric.fi_freeinfo(other);
    closes();
  }

  @Test
  void functionsThatTheDoubleHasNoAnswerTo() {
    MemorySegment endpoint = driver.enabledEndpoint();
    assertEquals(
        -FabricErrno.ENOSYS,
        fi_ops_ep.tx_size_left.invoke(fi_ops_ep.tx_size_left(fid_ep.ops(endpoint)), endpoint));
    broken(Rule.UNEXPECTED_CALL);
    assertTrue(library.violations().getFirst().call().contains("tx_size_left"));
    closes(endpoint);
  }

  @Test
  void whatIsNotClosedIsFound() {
    MemorySegment region = driver.register(memory);
    broken();
    assertEquals(
        List.of(
            Rule.NOT_CLOSED, Rule.NOT_CLOSED, Rule.NOT_CLOSED, Rule.NOT_CLOSED, Rule.NOT_CLOSED),
        library.verdict().stream().map(Violation::rule).toList());
    closes(region);
    library.requireClean();
  }

  @Test
  void whoDoesNotOfferTheModesIsNotServed() {
    MemorySegment result = driver.arena.allocate(ValueLayout.ADDRESS);
    assertEquals(
        -FabricErrno.ENODATA,
        RawDriver.getinfo(library.entryPoints(), RawDriver.ALL_MODES & ~0x200, result));
    assertTrue(Pointers.isNull(Pointers.read(result)));
    closes();
  }

  @Test
  void withoutWriteDataThereIsNone() {
    over(DoubleSettings.cxi().withoutWriteData());
    MemorySegment endpoint = driver.enabledEndpoint();
    MemorySegment message = driver.arena.allocate(256, 16);
    assertEquals(-FabricErrno.ENOSYS, driver.writeMessage(endpoint, message, 1L << 17));
    assertFalse(library.calls().isEmpty());
    broken();
    closes(endpoint);
  }
}

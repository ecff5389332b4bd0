package org.jofi.libfabric;

import static org.jofi.libfabric.bindings.LibfabricConstants.FI_ENABLE;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Map;
import java.util.Optional;
import org.jofi.fabric.Access;
import org.jofi.fabric.AddressText;
import org.jofi.fabric.AddressVector;
import org.jofi.fabric.Capability;
import org.jofi.fabric.CompletionQueue;
import org.jofi.fabric.Domain;
import org.jofi.fabric.Endpoint;
import org.jofi.fabric.EndpointLimits;
import org.jofi.fabric.EndpointOption;
import org.jofi.fabric.EndpointRequest;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.LinkTraffic;
import org.jofi.fabric.MrMode;
import org.jofi.fabric.PostFlags;
import org.jofi.libfabric.bindings.fi_ops;
import org.jofi.libfabric.bindings.fi_ops_cm;
import org.jofi.libfabric.bindings.fi_ops_domain;
import org.jofi.libfabric.bindings.fid;
import org.jofi.libfabric.bindings.fid_domain;
import org.jofi.libfabric.bindings.fid_ep;
import org.jspecify.annotations.Nullable;

/** struct fid_ep of type FI_EP_RDM, bound and enabled. */
final class LibfabricEndpoint extends FabricObject implements Endpoint {
  private final LibfabricDomain domain;
  private final String label;
  private final LibfabricAddressVector peers;
  private final LibfabricCompletionQueue transmitQueue;
  private final LibfabricCompletionQueue receiveQueue;
  private final EndpointLimits negotiated;
  private final boolean needsDescriptor;
  private final boolean receivesDirected;
  private final BoundedClose bounded;

  // Set once, when the endpoint is enabled; only then are the operation tables final.
  private PostingCalls calls = PostingCalls.NONE;

  /** Those that it had while its close goes on, in a provider that would not let them return. */
  private PostingCalls closing = PostingCalls.NONE;

  private EndpointLimits limits;
  private String localAddress = "";
  private byte @Nullable [] watched;
  private @Nullable FabricException ownReadRefusal;

  private LibfabricEndpoint(LibfabricDomain domain, EndpointRequest request) {
    super("endpoint '%s' of %s".formatted(request.label(), domain.info()));
    this.domain = domain;
    label = request.label();
    peers = ownAddressVector(request.addressVector());
    transmitQueue = ownQueue(request.transmitQueue());
    receiveQueue = ownQueue(request.receiveQueue());
    negotiated = EndpointLimits.of(domain.info().limits());
    limits = negotiated;
    needsDescriptor = domain.info().mrModes().contains(MrMode.LOCAL);
    receivesDirected = domain.info().has(Capability.DIRECTED_RECV);
    bounded = new BoundedClose(label, BoundedClose.BOUND_MS);
  }

  /**
   * Opens one of an info of the domain's.
   *
   * @throws FabricException if the provider refuses; nothing stays open then
   */
  static LibfabricEndpoint open(LibfabricDomain domain, EndpointRequest request, NativeInfo of) {
    MemorySegment fid = domain.fid();
    LibfabricEndpoint endpoint = new LibfabricEndpoint(domain, request);
    try {
      endpoint.standOn(domain);
      endpoint.standOn(endpoint.peers);
      endpoint.standOn(endpoint.transmitQueue);
      endpoint.standOn(endpoint.receiveQueue);
      MemorySegment function = fi_ops_domain.endpoint(fid_domain.ops(fid));
      endpoint.open(
          "fi_endpoint",
          result ->
              of.with(
                  info ->
                      SignalGuard.guard(
                          () ->
                              fi_ops_domain.endpoint.invoke(
                                  function, fid, info, result, MemorySegment.NULL))));
      endpoint.bindAndEnable(request.options());
      return endpoint;
    } catch (RuntimeException failure) {
      endpoint.abandon(failure);
      throw failure;
    }
  }

  private void bindAndEnable(Map<EndpointOption, Long> options) {
    if (transmitQueue == receiveQueue) {
      bind("fi_ep_bind(cq)", transmitQueue, Access.SEND | Access.RECV);
    } else {
      bind("fi_ep_bind(transmit cq)", transmitQueue, Access.SEND);
      bind("fi_ep_bind(receive cq)", receiveQueue, Access.RECV);
    }
    bind("fi_ep_bind(av)", peers, 0);
    LibfabricEventQueue events = domain.events();
    if (events != null) {
      bind("fi_ep_bind(eq)", events, 0);
    }
    ownReadRefusal = new OwnReads(domain.info(), System::getenv).demand(options());
    options.forEach(options()::set);
    if (domain.isSharedMemory()) {
      rename(SharedMemoryNames.inThisNamespace(address()));
      try (SharedMemoryRoom _ = SharedMemoryRoom.take()) {
        enable();
      }
    } else {
      enable();
    }
    MemorySegment ep = nativeObject();
    limits = readLimits();
    calls = PostingCalls.of(ep, domain.regionMapLock(), domain.splitsWriteData());
    byte[] address = address();
    localAddress = AddressText.of(address);
    if (domain.isSharedMemory()) {
      SharedMemoryWatch.watch(address);
      watched = address;
    }
  }

  /**
   * The flags for binding a queue are FI_TRANSMIT and FI_RECV; FI_TRANSMIT has the value of
   * FI_SEND.
   */
  private void bind(String operation, FabricObject object, long flags) {
    MemorySegment ep = nativeObject();
    check(
        operation, fi_ops.bind.invoke(fi_ops.bind(fid.ops(ep)), ep, object.nativeObject(), flags));
  }

  private void check(String operation, int code) {
    if (code != 0) {
      throw new FabricException(operation, Math.abs(code), "", place());
    }
  }

  /** Includes the address, because several rails may be on one NIC. */
  @Override
  public String toString() {
    return localAddress.isEmpty() ? place() : place() + " at " + localAddress;
  }

  private void enable() {
    MemorySegment ep = nativeObject();
    check(
        "fi_enable",
        SignalGuard.guard(
            () ->
                fi_ops.control.invoke(
                    fi_ops.control(fid.ops(ep)), ep, FI_ENABLE(), MemorySegment.NULL)));
  }

  private void rename(byte[] name) {
    MemorySegment ep = nativeObject();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment bytes = arena.allocateFrom(ValueLayout.JAVA_BYTE, name);
      check(
          "fi_setname",
          fi_ops_cm.setname.invoke(fi_ops_cm.setname(fid_ep.cm(ep)), ep, bytes, name.length));
    }
  }

  @Override
  public Domain domain() {
    return domain;
  }

  @Override
  public String label() {
    return label;
  }

  @Override
  public byte[] address() {
    requireOpen();
    MemorySegment ep = nativeObject();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment bytes = arena.allocate(SocketAddresses.MOST_BYTES, 16);
      MemorySegment length = arena.allocateFrom(ValueLayout.JAVA_LONG, SocketAddresses.MOST_BYTES);
      check(
          "fi_getname",
          fi_ops_cm.getname.invoke(fi_ops_cm.getname(fid_ep.cm(ep)), ep, bytes, length));
      return bytes.asSlice(0, length.get(ValueLayout.JAVA_LONG, 0)).toArray(ValueLayout.JAVA_BYTE);
    }
  }

  @Override
  public long option(EndpointOption option) {
    requireOpen();
    return options().get(option);
  }

  @Override
  public void setOption(EndpointOption option, long value) {
    requireOpen();
    options().set(option, value);
    limits = readLimits();
  }

  /** Libraries before 2.0 do not know these options, and providers log a warning for each. */
  private EndpointLimits readLimits() {
    return LibfabricLibrary.load().isAtLeast(2, 0) ? options().limits(negotiated) : negotiated;
  }

  private EndpointOptions options() {
    return new EndpointOptions(nativeObject(), place());
  }

  @Override
  public Optional<FabricException> ownReadRefusal() {
    return Optional.ofNullable(ownReadRefusal);
  }

  @Override
  public EndpointLimits limits() {
    return limits;
  }

  @Override
  public int send(
      long address, long lengthBytes, long descriptor, long peer, int context, long flags) {
    long op = transmitQueue.context(context);
    int bad = badPost(address, lengthBytes, limits.sendBytes(), descriptor, peer, op);
    return bad != 0 ? bad : calls.send(address, lengthBytes, descriptor, peer, op, flags);
  }

  @Override
  public int sendData(
      long address,
      long lengthBytes,
      long descriptor,
      long data,
      long peer,
      int context,
      long flags) {
    long op = transmitQueue.context(context);
    int bad = badPost(address, lengthBytes, limits.sendBytes(), descriptor, peer, op);
    return bad != 0 ? bad : calls.sendData(address, lengthBytes, descriptor, data, peer, op, flags);
  }

  @Override
  public int inject(long address, long lengthBytes, long peer) {
    // An injected message is copied, so it needs neither descriptor nor context; 1 stands for both
    // here.
    int bad = badPost(address, lengthBytes, limits.injectedSendBytes(), 1, peer, 1);
    return bad != 0 ? bad : calls.inject(address, lengthBytes, peer);
  }

  @Override
  public int recv(long address, long lengthBytes, long descriptor, long peer, int context) {
    long op = receiveQueue.context(context);
    // The buffer may be longer than the longest send.
    int bad = badBuffer(address, lengthBytes, negotiated.sendBytes(), descriptor, op);
    if (bad == 0 && peer != AddressVector.ANY) {
      // Without the capability, providers receive from any peer and report no error.
      if (!receivesDirected) {
        bad = -FabricErrno.EOPNOTSUPP;
      } else if (!peers.lives(peer)) {
        bad = -FabricErrno.EINVAL;
      }
    }
    return bad != 0 ? bad : calls.recv(address, lengthBytes, descriptor, peer, op);
  }

  @Override
  public int write(
      long address,
      long lengthBytes,
      long descriptor,
      long peer,
      long remoteAddress,
      long key,
      int context,
      long flags) {
    long op = transmitQueue.context(context);
    int bad = badRma(address, lengthBytes, descriptor, peer, op, flags);
    return bad != 0
        ? bad
        : calls.write(address, lengthBytes, descriptor, peer, remoteAddress, key, op, flags);
  }

  @Override
  public int writeData(
      long address,
      long lengthBytes,
      long descriptor,
      long data,
      long peer,
      long remoteAddress,
      long key,
      int context,
      long flags) {
    long op = transmitQueue.context(context);
    int bad = badRma(address, lengthBytes, descriptor, peer, op, flags);
    return bad != 0
        ? bad
        : calls.writeData(
            address, lengthBytes, descriptor, data, peer, remoteAddress, key, op, flags);
  }

  @Override
  public int read(
      long address,
      long lengthBytes,
      long descriptor,
      long peer,
      long remoteAddress,
      long key,
      int context) {
    long op = transmitQueue.context(context);
    int bad = badPost(address, lengthBytes, limits.rmaBytes(), descriptor, peer, op);
    return bad != 0
        ? bad
        : calls.read(address, lengthBytes, descriptor, peer, remoteAddress, key, op);
  }

  @Override
  public int cancel(int context) {
    if (calls == PostingCalls.NONE) {
      if (closing != PostingCalls.NONE) {
        return -FabricErrno.ETIMEDOUT;
      }
      throw closedException();
    }
    long receive = receiveQueue.context(context);
    return receive == 0 ? -FabricErrno.EINVAL : calls.cancel(receive);
  }

  /**
   * Refuses arguments on which a provider would crash or read beyond its tables; returns 0 if they
   * are good.
   */
  private int badPost(
      long address, long lengthBytes, long most, long descriptor, long peer, long op) {
    int bad = badBuffer(address, lengthBytes, most, descriptor, op);
    return bad == 0 && !peers.lives(peer) ? -FabricErrno.EINVAL : bad;
  }

  private int badRma(
      long address, long lengthBytes, long descriptor, long peer, long op, long flags) {
    boolean injected = (flags & PostFlags.INJECT) != 0;
    long most = injected ? limits.injectedRmaBytes() : limits.rmaBytes();
    // What is copied needs no descriptor.
    return badPost(address, lengthBytes, most, injected ? 1 : descriptor, peer, op);
  }

  private int badBuffer(long address, long lengthBytes, long most, long descriptor, long op) {
    if (calls == PostingCalls.NONE) {
      throw closedException();
    }
    if (lengthBytes > most) {
      return -FabricErrno.EMSGSIZE;
    }
    boolean lacks = lengthBytes != 0 && (address == 0 || (needsDescriptor && descriptor == 0));
    return lengthBytes < 0 || op == 0 || lacks ? -FabricErrno.EINVAL : 0;
  }

  private LibfabricAddressVector ownAddressVector(AddressVector vector) {
    if (vector instanceof LibfabricAddressVector own && own.domain() == domain) {
      return own;
    }
    throw new IllegalArgumentException("the address vector is not of " + domain.place());
  }

  private LibfabricCompletionQueue ownQueue(CompletionQueue queue) {
    if (queue instanceof LibfabricCompletionQueue own && own.domain() == domain) {
      return own;
    }
    throw new IllegalArgumentException("the completion queue is not of " + domain.place());
  }

  /** Whether the kernel has its connections, and it listens. */
  private boolean isOverTcp() {
    return !localAddress.isEmpty() && LibfabricTraits.isOverTcp(domain.info().provider());
  }

  @Override
  public Optional<LinkTraffic> linkTraffic(byte[] peer) {
    if (!isOverTcp()) {
      return Optional.empty();
    }
    try (TcpSockets sockets = new TcpSockets()) {
      return Optional.of(sockets.traffic(localAddress, AddressText.of(peer)));
    }
  }

  @Override
  int nativeClose() {
    if (isOverTcp()) {
      UnheardConnections.end(localAddress, receiveQueue::progress);
    }
    if (LibfabricTraits.closesAfterOperations(domain.info().provider())) {
      return closeInTime();
    }
    // ofi_rxm ends transfers here, and closes the regions that it registered for them.
    return domain.regionMapLock().during(super::nativeClose);
  }

  /** While the call goes on, the provider holds the lock that reading the queues takes as well. */
  private int closeInTime() {
    MemorySegment open = nativeObject();
    int result = bounded.close(() -> close(open));
    boolean goesOn = result == -FabricErrno.ETIMEDOUT;
    if (goesOn && closing == PostingCalls.NONE) {
      closing = calls;
      calls = PostingCalls.NONE;
    }
    transmitQueue.leaveUnread(goesOn);
    receiveQueue.leaveUnread(goesOn);
    return result;
  }

  @Override
  void closedForGood() {
    calls.free();
    closing.free();
    calls = PostingCalls.NONE;
    closing = PostingCalls.NONE;
    if (watched != null) {
      SharedMemoryWatch.leave(watched);
    }
  }

  @Override
  public void close() {
    closeObject("ep");
  }
}

package org.jofi.conformance.bench;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntSupplier;
import org.jofi.fabric.AddressVector;
import org.jofi.fabric.CompletionQueue;
import org.jofi.fabric.Domain;
import org.jofi.fabric.Endpoint;
import org.jofi.fabric.EndpointRequest;
import org.jofi.fabric.Fabric;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.KeyOwner;
import org.jofi.fabric.MemoryRegion;
import org.jofi.fabric.RegionRequest;
import org.jofi.fabric.RegistrationScope;

/** An endpoint with its queue, its address vector and the regions used with it. */
public final class Peer {
  /** Slots of its queue. */
  public static final int CONTEXTS = 4096;

  private static final int QUEUE_DEPTH = 4096;

  private final Bench bench;
  private final String label;
  private final FabricInfo info;
  private final AddressVector peers;
  private final CompletionQueue queue;
  private final Endpoint endpoint;
  private final Fabric fabric;
  private final Domain domain;
  private final boolean ownsDomain;
  private final Completions completions = new Completions();
  private final List<MemoryRegion> regions = new ArrayList<>();
  private int nextContext;

  private Peer(Bench bench, String label, Fabric fabric, Domain domain, boolean ownsDomain) {
    this.bench = bench;
    this.label = label;
    this.fabric = fabric;
    this.domain = domain;
    this.ownsDomain = ownsDomain;
    this.info = domain.info();
    this.peers = domain.openAddressVector(4);
    this.queue = domain.openCompletionQueue(QUEUE_DEPTH, CONTEXTS);
    this.endpoint = domain.openEndpoint(EndpointRequest.of(label, peers, queue));
  }

  static Peer open(Bench bench, String label, FabricInfo info) {
    Fabric fabric = bench.subject().provider().open(info);
    return new Peer(bench, label, fabric, fabric.openDomain(), true);
  }

  /** Another endpoint of that side's domain. */
  static Peer beside(Bench bench, String label, Peer other) {
    return new Peer(bench, label, other.fabric, other.domain, false);
  }

  /** What errors call it. */
  public String label() {
    return label;
  }

  /** How its NIC was negotiated. */
  public FabricInfo info() {
    return info;
  }

  /** Its fabric. */
  public Fabric fabric() {
    return fabric;
  }

  /** Its domain. */
  public Domain domain() {
    return domain;
  }

  /** Whom it knows. */
  public AddressVector peers() {
    return peers;
  }

  /** Where everything of it reports. */
  public CompletionQueue queue() {
    return queue;
  }

  /** Its endpoint. */
  public Endpoint endpoint() {
    return endpoint;
  }

  /** So many bytes, or fewer if its sends end before. */
  public int sendable(int bytes) {
    return (int) Math.min(bytes, endpoint.limits().sendBytes());
  }

  /** What its queue delivered so far. */
  public Completions completions() {
    return completions;
  }

  /** Makes another side known to it, and returns the number that it has here. */
  public long know(Peer other) {
    return peers.insert(other.endpoint.address());
  }

  /** A slot that is not in use, as long as no more than {@link #CONTEXTS} are. */
  public int slot() {
    nextContext = (nextContext + 1) % CONTEXTS;
    return nextContext;
  }

  /** Polls once; how many completions came. */
  public int poll() {
    int polled = queue.poll(completions, 64);
    if (polled < 0) {
      throw new BrokenRuleException(
          "fi_cq_read to deliver what finished", "it returned " + Expect.code(polled));
    }
    return polled;
  }

  /** Zeroed memory of that length, registered. */
  public Buffer buffer(long bytes, long access) {
    MemorySegment memory = bench.allocate(bytes);
    return new Buffer(this, memory, register(RegionRequest.host(memory, access)));
  }

  /** Registers whichever way the NIC demands, with a fresh key where one is to be chosen. */
  public MemoryRegion register(RegionRequest request) {
    return registerAs(
        info.keyOwner() == KeyOwner.APPLICATION
            ? request.withRequestedKey(bench.freshKey())
            : request);
  }

  /** Registers with the key that the request has. */
  public MemoryRegion registerAs(RegionRequest request) {
    return keep(
        info.registrationScope() == RegistrationScope.DOMAIN
            ? domain.register(request)
            : domain.registerForEndpoint(request).bind(endpoint).enable());
  }

  /** Closes that region when the side closes, at the latest. */
  public MemoryRegion keep(MemoryRegion region) {
    regions.add(region);
    return region;
  }

  /** Posts, and tries again after {@code -EAGAIN}. */
  public void post(String what, IntSupplier call) {
    bench.post(this, what, call);
  }

  /** Posts a receive into the first bytes of a buffer; its slot. */
  public int recv(Buffer into, long bytes) {
    return recv(into, 0, bytes);
  }

  /** Posts a receive; its slot. */
  public int recv(Buffer into, long offset, long bytes) {
    int slot = slot();
    post(
        "fi_recv of %d bytes".formatted(bytes),
        () ->
            endpoint.recv(
                into.address() + offset, bytes, into.descriptor(), AddressVector.ANY, slot));
    return slot;
  }

  /** Sends the first bytes of a buffer; the slot. */
  public int send(Buffer from, long bytes, long peer) {
    return send(from, 0, bytes, peer);
  }

  /** Sends; the slot. */
  public int send(Buffer from, long offset, long bytes, long peer) {
    int slot = slot();
    post(
        "fi_send of %d bytes".formatted(bytes),
        () -> endpoint.send(from.address() + offset, bytes, from.descriptor(), peer, slot));
    return slot;
  }

  /** Writes the first bytes of a buffer; the slot. */
  public int write(Buffer from, long bytes, long peer, Target to, long flags) {
    return write(from, 0, bytes, peer, to, flags);
  }

  /** Writes; the slot. */
  public int write(Buffer from, long offset, long bytes, long peer, Target to, long flags) {
    int slot = slot();
    post(
        "fi_write of %d bytes".formatted(bytes),
        () ->
            endpoint.write(
                from.address() + offset,
                bytes,
                from.descriptor(),
                peer,
                to.address(),
                to.key(),
                slot,
                flags));
    return slot;
  }

  /**
   * Writes the first bytes of a buffer with immediate data; the slot.
   *
   * @throws NotClaimedException if the provider has no fi_writedata
   */
  public int writeData(Buffer from, long bytes, long data, long peer, Target to) {
    int slot = slot();
    post(
        "fi_writedata of %d bytes".formatted(bytes),
        () ->
            Bench.claimed(
                "fi_writedata",
                endpoint.writeData(
                    from.address(),
                    bytes,
                    from.descriptor(),
                    data,
                    peer,
                    to.address(),
                    to.key(),
                    slot,
                    0)));
    return slot;
  }

  /** Reads into the first bytes of a buffer; the slot. */
  public int read(Buffer into, long bytes, long peer, Target from) {
    int slot = slot();
    post(
        "fi_read of %d bytes".formatted(bytes),
        () ->
            endpoint.read(
                into.address(), bytes, into.descriptor(), peer, from.address(), from.key(), slot));
    return slot;
  }

  /** Waits for the completion of a slot, success or not. */
  public Completion completion(int slot, String what) {
    bench.await(this, what + " to complete", () -> completions.of(slot).isPresent());
    return completions.of(slot).orElseThrow();
  }

  /** Waits for the completion of a slot, which must be a success. */
  public Completion success(int slot, String what) {
    Completion completion = completion(slot, what);
    Expect.that(!completion.failed(), what + " to succeed", completion.toString());
    return completion;
  }

  /** Closes all of it in the order that fi_mr(3) and fi_endpoint(3) demand. */
  void close() {
    if (info.registrationScope() == RegistrationScope.ENDPOINT) {
      regions.forEach(MemoryRegion::close);
      endpoint.close();
    } else {
      endpoint.close();
      regions.forEach(MemoryRegion::close);
    }
    queue.close();
    peers.close();
    if (ownsDomain) {
      domain.close();
      fabric.close();
    }
  }

  @Override
  public String toString() {
    return label;
  }
}

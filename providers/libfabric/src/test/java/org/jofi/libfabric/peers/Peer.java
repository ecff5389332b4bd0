package org.jofi.libfabric.peers;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;
import org.jofi.fabric.AddressVector;
import org.jofi.fabric.Addressing;
import org.jofi.fabric.CompletionQueue;
import org.jofi.fabric.Domain;
import org.jofi.fabric.Endpoint;
import org.jofi.fabric.EndpointRequest;
import org.jofi.fabric.Fabric;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricHints;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.FabricProvider;
import org.jofi.fabric.MemoryRegion;
import org.jofi.fabric.RegionRequest;

/** One side: everything open on one NIC, and the other side's endpoint known. */
final class Peer implements AutoCloseable {
  static final int CONTEXTS = 1024;
  private static final long PATIENCE_NANOS = 60_000_000_000L;

  private static final long SHORT_PATIENCE_NANOS = 3_000_000_000L;

  /** Where the other side's buffer is. */
  record Remote(long address, long key) {}

  final boolean first;
  final FabricInfo info;
  final Domain domain;
  final AddressVector peers;
  final CompletionQueue queue;
  final Endpoint endpoint;
  final Completions completions = new Completions();
  final Lines lines;
  final long other;

  private final Fabric fabric;
  private final Arena arena = Arena.ofShared();
  private final List<MemoryRegion> regions = new ArrayList<>();
  private int nextContext;
  private long nextKey = 1;

  Peer(String provider, boolean first, Lines lines) {
    this.first = first;
    this.lines = lines;
    FabricProvider libfabric = FabricProvider.named("libfabric");
    info = choose(libfabric, provider);
    fabric = libfabric.open(info);
    domain = fabric.openDomain();
    peers = domain.openAddressVector(2);
    queue = domain.openCompletionQueue(4096, CONTEXTS);
    endpoint = domain.openEndpoint(EndpointRequest.of(first ? "first" : "second", peers, queue));
    lines.send(HexFormat.of().formatHex(endpoint.address()));
    other = peers.insert(HexFormat.of().parseHex(line()));
  }

  /** Loopback, by IPv4 where there is a choice. */
  static FabricInfo choose(FabricProvider libfabric, String provider) {
    return libfabric.discover(FabricHints.any().withProvider(provider).withHmem(false)).stream()
        .filter(info -> info.provider().equals(provider))
        .min(
            Comparator.comparingInt((FabricInfo info) -> info.address().startsWith("127.") ? 0 : 1)
                .thenComparingInt(info -> info.domainName().equals("lo") ? 0 : 1))
        .orElseThrow(() -> new Lack("no provider " + provider));
  }

  /** Waits for the other side to say something, and polls meanwhile: progress is manual. */
  String line() {
    String[] line = new String[1];
    await("a line from the other side", () -> (line[0] = lines.poll()) != null);
    return line[0];
  }

  /** Both sides come here before either goes on. */
  void meet() {
    lines.send("here");
    line();
  }

  MemorySegment allocate(long bytes) {
    return arena.allocate(Math.max(1, bytes), 4096).asSlice(0, bytes);
  }

  MemoryRegion register(MemorySegment segment, long access) {
    MemoryRegion region =
        domain.register(RegionRequest.host(segment, access).withRequestedKey(nextKey++));
    regions.add(region);
    return region;
  }

  /** Tells the other side where a region is, and learns where the other's is. */
  Remote exchange(MemoryRegion region) {
    long base = info.addressing() == Addressing.VIRTUAL ? region.request().address() : 0;
    lines.send(base + " " + region.key());
    String[] words = line().split(" ", -1);
    return new Remote(Long.parseLong(words[0]), Long.parseLong(words[1]));
  }

  int context() {
    nextContext = (nextContext + 1) % CONTEXTS;
    return nextContext;
  }

  /** Posts, polling and trying again while the provider says so. */
  void post(String what, IntSupplier call) {
    await(
        what + " to be posted",
        () -> {
          int code = call.getAsInt();
          if (code != 0 && code != -FabricErrno.EAGAIN) {
            throw new AssertionError(what + " returned -" + FabricErrno.name(-code));
          }
          return code == 0;
        });
  }

  /** Writes the first bytes of a segment to that place in the other's region, and waits for it. */
  void write(
      MemorySegment from, long size, MemoryRegion region, Remote remote, long offset, long flags) {
    int context = context();
    post(
        "write of " + size,
        () ->
            endpoint.write(
                from.address(),
                size,
                region.descriptor(),
                other,
                remote.address() + offset,
                remote.key(),
                context,
                flags));
    success(context, "write of " + size);
  }

  /** The completion of that context, which must be a success. */
  Completions.Completion success(int context, String what) {
    Completions.Completion completion = completion(context, what);
    if (completion.failure() != null) {
      throw new AssertionError(what + " failed", completion.failure());
    }
    return completion;
  }

  /** Whether that context completes within a few seconds. */
  boolean completes(int context) {
    long start = System.nanoTime();
    while (completions.take(context) == null) {
      poll();
      if (System.nanoTime() - start > SHORT_PATIENCE_NANOS) {
        return false;
      }
      Thread.yield();
    }
    return true;
  }

  Completions.Completion completion(int context, String what) {
    Completions.Completion[] taken = new Completions.Completion[1];
    await(what + " to complete", () -> (taken[0] = completions.take(context)) != null);
    return taken[0];
  }

  Completions.Completion immediate() {
    Completions.Completion[] taken = new Completions.Completion[1];
    await("immediate data", () -> (taken[0] = completions.takeImmediate()) != null);
    return taken[0];
  }

  void poll() {
    int result = queue.poll(completions, 64);
    if (result < 0) {
      throw new AssertionError("poll returned -" + FabricErrno.name(-result));
    }
  }

  void await(String what, BooleanSupplier condition) {
    long start = System.nanoTime();
    while (!condition.getAsBoolean()) {
      poll();
      if (System.nanoTime() - start > PATIENCE_NANOS) {
        throw new AssertionError("waited too long for " + what);
      }
      Thread.yield();
    }
  }

  @Override
  public void close() {
    endpoint.close();
    regions.forEach(MemoryRegion::close);
    queue.close();
    peers.close();
    domain.close();
    fabric.close();
    arena.close();
  }
}

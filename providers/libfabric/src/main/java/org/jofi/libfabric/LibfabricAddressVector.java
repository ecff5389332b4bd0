package org.jofi.libfabric;

import static org.jofi.libfabric.bindings.LibfabricConstants.FI_AV_TABLE;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.jofi.fabric.AddressText;
import org.jofi.fabric.AddressVector;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.jofi.libfabric.bindings.fi_av_attr;
import org.jofi.libfabric.bindings.fi_info;
import org.jofi.libfabric.bindings.fi_ops_av;
import org.jofi.libfabric.bindings.fi_ops_domain;
import org.jofi.libfabric.bindings.fid_av;
import org.jofi.libfabric.bindings.fid_domain;
import org.jspecify.annotations.Nullable;

/**
 * struct fid_av, type FI_AV_TABLE: peers are numbered 0, 1, 2, ... It remembers which numbers are
 * valid, because providers index their tables with any number without checking it.
 */
final class LibfabricAddressVector extends FabricObject implements AddressVector {
  private final LibfabricDomain domain;
  private final int format;
  private final byte[] own;

  /** A bit for each peer that was inserted and not removed. */
  private long[] live = new long[1];

  /** The addresses of those peers whose shared memory is watched; see {@link SharedMemoryWatch}. */
  private final Map<Long, byte[]> watched = new HashMap<>();

  private LibfabricAddressVector(LibfabricDomain domain) {
    super("address vector of " + domain.info());
    this.domain = domain;
    format = domain.handle().with(info -> fi_info.addr_format(InfoReader.struct(info)));
    own = domain.handle().with(info -> InfoReader.sourceAddress(InfoReader.struct(info)));
  }

  static LibfabricAddressVector open(LibfabricDomain domain, int expectedPeers) {
    LibfabricAddressVector vector = new LibfabricAddressVector(domain);
    MemorySegment fid = domain.fid();
    vector.standOn(domain);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment attributes = NativeStruct.allocate(arena, fi_av_attr.sizeof());
      fi_av_attr.type(attributes, FI_AV_TABLE());
      fi_av_attr.count(attributes, Math.max(1, expectedPeers));
      MemorySegment function = fi_ops_domain.av_open(fid_domain.ops(fid));
      vector.open(
          "fi_av_open",
          result ->
              fi_ops_domain.av_open.invoke(function, fid, attributes, result, MemorySegment.NULL));
    }
    return vector;
  }

  LibfabricDomain domain() {
    return domain;
  }

  /** Whether a post may name this peer. On the data path. */
  boolean lives(long peer) {
    long word = peer >>> 6;
    return Long.compareUnsigned(word, live.length) < 0
        && (live[(int) word] & 1L << (int) (peer & 63)) != 0;
  }

  @Override
  public long insert(byte[] address) {
    requireOpen();
    @Nullable String problem = SocketAddresses.problem(address, format, own);
    if (problem != null) {
      throw new IllegalArgumentException(
          "peer address %s: not an address of %s".formatted(problem, domain.info()));
    }
    MemorySegment fid = nativeObject();
    try (Arena arena = Arena.ofConfined()) {
      // The address is padded with zeros, because a provider reads as many bytes as its format has.
      MemorySegment bytes = arena.allocate(SocketAddresses.MOST_BYTES * 2L, 16);
      byte[] reached = SocketAddresses.fromHere(address, own);
      MemorySegment.copy(reached, 0, bytes, ValueLayout.JAVA_BYTE, 0, reached.length);
      MemorySegment peer = arena.allocate(ValueLayout.JAVA_LONG);
      int inserted =
          fi_ops_av.insert.invoke(
              fi_ops_av.insert(fid_av.ops(fid)), fid, bytes, 1, peer, 0, MemorySegment.NULL);
      long number = peer.get(ValueLayout.JAVA_LONG, 0);
      if (inserted != 1 || number < 0 || number > Integer.MAX_VALUE) {
        throw new FabricException(
            "fi_av_insert",
            inserted < 0 ? -inserted : FabricErrno.EINVAL,
            "",
            "%s, peer %s".formatted(place(), AddressText.of(address)));
      }
      mark(number);
      // A provider may return the same number twice.
      if (domain.isSharedMemory() && watched.putIfAbsent(number, address.clone()) == null) {
        SharedMemoryWatch.watch(address);
      }
      return number;
    }
  }

  @Override
  public void remove(long peer) {
    requireOpen();
    if (!lives(peer)) {
      throw new IllegalArgumentException("%s has no peer %d".formatted(place(), peer));
    }
    MemorySegment fid = nativeObject();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment number = arena.allocateFrom(ValueLayout.JAVA_LONG, peer);
      int code = fi_ops_av.remove.invoke(fi_ops_av.remove(fid_av.ops(fid)), fid, number, 1, 0);
      if (code != 0) {
        throw new FabricException("fi_av_remove", -code, "", place() + ", peer " + peer);
      }
      live[(int) (peer >>> 6)] &= ~(1L << (int) (peer & 63));
      byte[] address = watched.remove(peer);
      if (address != null) {
        SharedMemoryWatch.leave(address);
      }
    }
  }

  @Override
  void closedForGood() {
    watched.values().forEach(SharedMemoryWatch::leave);
    watched.clear();
  }

  @Override
  public void close() {
    closeObject("av");
  }

  private void mark(long peer) {
    int word = (int) (peer >>> 6);
    if (word >= live.length) {
      live = Arrays.copyOf(live, Math.max(word + 1, live.length * 2));
    }
    live[word] |= 1L << (int) (peer & 63);
  }
}

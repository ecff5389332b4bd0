package org.jofi.rdma.engine;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.request.PeerLink;
import org.jofi.rdma.request.Request;
import org.jofi.rdma.request.RequestStrategy;
import org.jofi.rdma.staging.StagingSpace;
import org.jofi.rdma.wire.EagerPacket;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.jofi.transport.Result;

/** The other end of {@link PacketSender}: puts packets in order, and keeps what comes early. */
public final class PacketReceiver extends PacketQueue implements ReceiveProtocol {
  private static final int MOST = 64;

  private final Map<Long, Piece> early = new HashMap<>();
  private final List<Receive> waiting = new ArrayList<>();
  private final List<Message> unexpected = new ArrayList<>();
  private final ByteArrayOutputStream collected = new ByteArrayOutputStream();
  private long next = 1;
  private long whole;
  private long expected = Long.MAX_VALUE;

  private record Piece(int tag, long messageBytes, MemorySegment bytes) {}

  private record Message(int tag, MemorySegment bytes) {}

  public PacketReceiver(PeerLink link) {
    super(link, MOST);
  }

  private final class Receive extends RequestStrategy {
    final int count;
    final long[] addresses;
    final long[] lengths;
    final int[] tags;
    final DataRegistration[] memory;
    int filled;

    Receive(
        Request request,
        int count,
        long[] addresses,
        long[] lengths,
        int[] tags,
        DataRegistration[] memory) {
      super(request);
      this.count = count;
      this.addresses = addresses.clone();
      this.lengths = lengths.clone();
      this.tags = tags.clone();
      this.memory = memory.clone();
    }

    /** The receive of it that takes such a message, or -1. */
    int open(int tag) {
      for (int sub = 0; sub < count; sub++) {
        if ((filled & 1 << sub) == 0 && tags[sub] == tag) {
          return sub;
        }
      }
      return -1;
    }

    @SuppressWarnings("restricted")
    void fill(int sub, MemorySegment bytes) {
      lengths[sub] = Math.min(lengths[sub], bytes.byteSize());
      MemorySegment.ofAddress(addresses[sub])
          .reinterpret(lengths[sub])
          .copyFrom(bytes.asSlice(0, lengths[sub]));
      filled |= 1 << sub;
      request.settle();
    }

    @Override
    public boolean isComplete() {
      return filled == (1 << count) - 1;
    }

    @Override
    public boolean isTimed() {
      return false;
    }

    @Override
    public boolean endsByItself() {
      return false;
    }

    @Override
    public long movedBytes() {
      long total = 0;
      for (int sub = 0; sub < count; sub++) {
        total += lengths[sub];
      }
      return total;
    }

    @Override
    public void endUse() {
      for (int sub = 0; sub < count; sub++) {
        memory[sub].endUse();
      }
    }

    @Override
    public String where() {
      return "irecv in packets";
    }

    @Override
    public String missing() {
      return "packets";
    }

    @Override
    public void cut() {
      waiting.remove(this);
    }
  }

  @Override
  public long receive(
      int count, long[] addresses, long[] lengths, int[] tags, DataRegistration[] registrations) {
    Failure broken = failure();
    if (broken != null) {
      return failed(broken);
    }
    if (isFull()) {
      return Result.TRY_AGAIN;
    }
    for (int sub = 0; sub < count; sub++) {
      if (!registrations[sub].beginUse()) {
        throw new AssertionError("not registered");
      }
    }
    Request request = begin().request;
    Receive receive = new Receive(request, count, addresses, lengths, tags, registrations);
    request.begin(receive);
    waiting.add(receive);
    for (Iterator<Message> early = unexpected.iterator(); early.hasNext(); ) {
      Message message = early.next();
      int sub = receive.open(message.tag);
      if (sub >= 0) {
        early.remove();
        receive.fill(sub, message.bytes);
      }
    }
    failIfPeerIsDone();
    return request.id();
  }

  @Override
  public boolean packet(MemorySegment memory, long lengthBytes) {
    link.heard = true;
    long ordinal = EagerPacket.ordinal(memory);
    int bytes = EagerPacket.lengthBytes(memory, EagerPacket.HEADER_BYTES) - Long.BYTES;
    if (ordinal < next || bytes < 0) {
      // It was sent again, and had arrived.
      return false;
    }
    long payload = EagerPacket.HEADER_BYTES + EagerPacket.MESSAGE_BYTES;
    MemorySegment copy = MemorySegment.ofArray(new byte[bytes]);
    copy.copyFrom(memory.asSlice(payload + Long.BYTES, bytes));
    int tag = EagerPacket.tag(memory, EagerPacket.HEADER_BYTES);
    early.putIfAbsent(
        ordinal, new Piece(tag, memory.get(ValueLayout.JAVA_LONG_UNALIGNED, payload), copy));
    for (Piece piece = early.remove(next); piece != null; piece = early.remove(next)) {
      next++;
      collected.writeBytes(piece.bytes.toArray(ValueLayout.JAVA_BYTE));
      if (collected.size() == piece.messageBytes) {
        MemorySegment message = MemorySegment.ofArray(collected.toByteArray());
        collected.reset();
        deliver(piece.tag, message);
      }
    }
    failIfPeerIsDone();
    return true;
  }

  private void deliver(int tag, MemorySegment bytes) {
    whole++;
    for (Receive receive : waiting) {
      int sub = receive.open(tag);
      if (sub >= 0) {
        receive.fill(sub, bytes);
        return;
      }
    }
    unexpected.add(new Message(tag, bytes));
  }

  private void failIfPeerIsDone() {
    if (failure() == null && whole >= expected && unexpected.isEmpty()) {
      fail(new Failure(FailureCause.PEER_CLOSED, 0, "irecv", ""));
    }
  }

  @Override
  protected RequestStrategy firstStrategy(Request request) {
    return new Receive(request, 0, new long[0], new long[0], new int[0], new DataRegistration[0]);
  }

  @Override
  public void ended(Request request) {
    if (request.strategy() instanceof Receive receive) {
      waiting.remove(receive);
    }
  }

  @Override
  public long receiveStaged(StagingSpace space, long address, long lengthBytes, int tag) {
    return failed(new Failure(FailureCause.UNAVAILABLE, 0, "irecv", "no device memory"));
  }

  @Override
  public long test(long request, long[] lengths) {
    long result = test(request);
    if (result >= 0) {
      lengths(request, lengths);
    }
    return result;
  }

  @Override
  public int lengths(long request, long[] lengths) {
    Request over = succeeded(request);
    if (over == null) {
      return 0;
    }
    Receive receive = (Receive) over.strategy();
    System.arraycopy(receive.lengths, 0, lengths, 0, receive.count);
    return receive.count;
  }

  @Override
  public boolean awaitsMore() {
    return failure() == null && expected != Long.MAX_VALUE && whole < expected;
  }

  @Override
  public long finished() {
    return 0;
  }

  @Override
  public void peerStops(long messages) {
    expected = messages;
    failIfPeerIsDone();
  }
}

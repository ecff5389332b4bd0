package org.jofi.rdma.engine;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import org.jofi.mr.registration.DataRegistration;
import org.jofi.rdma.operation.AddressSpace;
import org.jofi.rdma.operation.Packet;
import org.jofi.rdma.operation.SentListener;
import org.jofi.rdma.operation.Task;
import org.jofi.rdma.request.PeerLink;
import org.jofi.rdma.request.Request;
import org.jofi.rdma.request.RequestStrategy;
import org.jofi.rdma.staging.StagingSpace;
import org.jofi.rdma.wire.EagerPacket;
import org.jofi.rdma.wire.MessageHeader;
import org.jofi.rdma.wire.MessageType;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.jofi.transport.Result;
import org.jspecify.annotations.Nullable;

/**
 * Another protocol than the product's: whatever its length, a message goes in numbered packets, and
 * nothing is written into anybody's memory. Each packet has a piece after the message's length.
 */
public final class PacketSender extends PacketQueue implements SendProtocol {
  private static final int MOST = 64;

  private final ArrayDeque<Send> unsent = new ArrayDeque<>();
  private final Task going = new Going();
  private long ordinal = 1;
  private long finished;

  public PacketSender(PeerLink link) {
    super(link, MOST);
  }

  private final class Going extends Task {
    @Override
    protected boolean advance() {
      for (Send send = unsent.peek(); send != null; send = unsent.peek()) {
        if (!send.post()) {
          return false;
        }
        unsent.remove();
        send.request.settle();
      }
      return true;
    }
  }

  private final class Send extends RequestStrategy implements SentListener {
    private final long address;
    private final long lengthBytes;
    private final int tag;
    private long done;
    private boolean posted;

    Send(Request request, long address, long lengthBytes, int tag) {
      super(request);
      this.address = address;
      this.lengthBytes = lengthBytes;
      this.tag = tag;
    }

    /** Whether there were buffers for the rest. */
    boolean post() {
      while (!posted) {
        Packet packet = link.sink.takePacket();
        if (packet == null) {
          return false;
        }
        MemorySegment memory = packet.memory();
        int room =
            link.endpoint.packetBytes()
                - EagerPacket.HEADER_BYTES
                - EagerPacket.MESSAGE_BYTES
                - Long.BYTES;
        int piece = (int) Math.min(room & -Long.BYTES, lengthBytes - done);
        int offset = EagerPacket.begin(memory, ordinal++, 0);
        int payload = EagerPacket.putMessage(memory, offset, tag, Long.BYTES + piece);
        memory.set(ValueLayout.JAVA_LONG_UNALIGNED, payload, lengthBytes);
        long to = memory.address() + payload + Long.BYTES;
        MemorySegment.copy(AddressSpace.ALL, address + done, AddressSpace.ALL, to, piece);
        int bytes = EagerPacket.after(payload, Long.BYTES + piece);
        MessageHeader.put(memory, MessageType.EAGER, bytes, link.id);
        done += piece;
        posted = done == lengthBytes;
        request.begun();
        packet.send(bytes, this, 0);
      }
      return true;
    }

    @Override
    public void sent(long cookie, @Nullable Failure why) {
      request.returned();
      if (why != null) {
        fail(why);
      }
      request.settle();
    }

    @Override
    public boolean isComplete() {
      return posted;
    }

    @Override
    public boolean isTimed() {
      return true;
    }

    @Override
    public boolean endsByItself() {
      return posted;
    }

    @Override
    public long movedBytes() {
      return lengthBytes;
    }

    @Override
    public long progress() {
      return done;
    }

    @Override
    public String where() {
      return "isend in packets";
    }

    @Override
    public String missing() {
      return "packets";
    }

    @Override
    public void cut() {
      unsent.remove(this);
    }
  }

  @Override
  public long send(
      long address,
      long lengthBytes,
      int tag,
      @Nullable DataRegistration registration,
      @Nullable StagingSpace space) {
    if (registration == null) {
      return failed(new Failure(FailureCause.UNAVAILABLE, 0, "isend", "no device memory"));
    }
    Failure broken = failure();
    if (broken != null) {
      return failed(broken);
    }
    if (isFull()) {
      return Result.TRY_AGAIN;
    }
    if (!registration.beginUse()) {
      return failed(deregistered("isend"));
    }
    Request request = begin().request;
    Send send = new Send(request, address, lengthBytes, tag);
    send.lease = registration;
    request.begin(send);
    unsent.add(send);
    link.submit(going);
    return request.id();
  }

  @Override
  public boolean cancel(long request) {
    return false;
  }

  @Override
  protected RequestStrategy firstStrategy(Request request) {
    return new Send(request, 0, 0, 0);
  }

  @Override
  public void ended(Request request) {
    finished += request.strategy().isComplete() ? 1 : 0;
  }

  @Override
  public boolean packet(MemorySegment memory, long lengthBytes) {
    return false;
  }

  @Override
  public boolean awaitsMore() {
    return false;
  }

  @Override
  public long finished() {
    return finished;
  }

  @Override
  public void peerStops(long messages) {
    fail(new Failure(FailureCause.PEER_CLOSED, 0, "isend", ""));
  }
}

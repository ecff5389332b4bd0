package org.jofi.rdma.engine;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jofi.counters.written.EndpointCounters;
import org.jofi.rdma.operation.ArrivalBudget;
import org.jofi.rdma.operation.Certainty;
import org.jofi.rdma.operation.EndpointContext;
import org.jofi.rdma.operation.InlineCopy;
import org.jofi.rdma.operation.OperationSink;
import org.jofi.rdma.operation.Packet;
import org.jofi.rdma.operation.PeerControl;
import org.jofi.rdma.operation.SentListener;
import org.jofi.rdma.operation.Tasks;
import org.jofi.rdma.operation.Transfer;
import org.jofi.rdma.operation.TransferListener;
import org.jofi.rdma.wire.FabricAddress;
import org.jofi.rdma.wire.MessageHeader;
import org.jofi.rdma.wire.MessageType;
import org.jofi.rdma.wire.ProtocolLimits;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.jofi.transport.RailStatus;
import org.jspecify.annotations.Nullable;

/** One end of a {@link ModelLink}, as the driver that its engine sees. */
final class ModelEnd implements OperationSink {
  private static final int ROOM = 64;
  private static final int BYTES = 512;
  private static final int TRIES = 4;
  private static final long LOST = 1;

  private final ModelLink link;
  private final Tasks tasks = new Tasks();
  private final ArrivalBudget budget = new ArrivalBudget(ROOM, tasks);
  private final List<Message> free = new ArrayList<>();
  private final EndpointContext context;
  private int taken;

  ModelEnd(ModelLink link) {
    this.link = link;
    context =
        new EndpointContext(
            "model",
            ModelLink.RAILS,
            ModelLink.RAILS,
            BYTES,
            false,
            link.completionMeansDelivered(),
            tasks,
            budget,
            EndpointCounters.unshared(ModelLink.RAILS));
  }

  /** A message, or immediate data alone. */
  final class Message implements Packet {
    private final MemorySegment memory = Arena.ofAuto().allocate(BYTES, 8);
    private SentListener listener = SentListener.NOBODY;
    private long cookie;
    private int bits;
    private boolean bare;
    private int lengthBytes;

    @Override
    public MemorySegment memory() {
      return memory;
    }

    @Override
    public void send(int length, SentListener who, long whose) {
      post(who, whose, length, false);
    }

    @Override
    public void tell(int length, SentListener who, long whose) {
      send(length, who, whose);
    }

    @Override
    public void sendImmediate(int withBits, SentListener who, long whose) {
      bits = withBits;
      post(who, whose, 0, true);
    }

    boolean isBare() {
      return bare;
    }

    boolean isEager() {
      return !bare && MessageHeader.type(memory) == MessageType.EAGER;
    }

    int bits() {
      return bits;
    }

    int lengthBytes() {
      return lengthBytes;
    }

    ModelEnd home() {
      return ModelEnd.this;
    }

    /** It left, or never will. */
    void over(boolean left) {
      SentListener told = listener;
      listener = SentListener.NOBODY;
      taken--;
      free.add(this);
      told.sent(cookie, left ? null : failure("fi_send"));
    }

    private void post(SentListener who, long whose, int length, boolean bareBits) {
      listener = who;
      cookie = whose;
      lengthBytes = length;
      bare = bareBits;
      if (link.failsForGood()) {
        over(false);
      } else {
        link.post(this);
        who.posted(whose);
      }
    }
  }

  /** A transfer that the link carries stripe by stripe. */
  final class Stripes extends Transfer {
    Stripes(TransferListener listener) {
      super(listener, ProtocolLimits.MAX_STRIPES);
    }

    @Override
    protected boolean advance() {
      while (!isBound() && !link.refuses()) {
        // Some of it, and the rest with the last stripe at the latest.
        boolean isLast = stripes() == ProtocolLimits.MAX_STRIPES - 1;
        bind(0, isLast ? unbound() : link.part(unbound()));
      }
      for (int stripe = 0; stripe < stripes(); stripe++) {
        if (state(stripe) == State.TO_POST && !link.refuses()) {
          tried(stripe);
          if (tries(stripe) < TRIES && link.fails()) {
            fail(stripe, 0, failure("post"), Certainty.NOT_EXECUTED);
          } else {
            move(stripe, State.OUT);
            link.post(this, stripe);
          }
        }
      }
      return in(State.TO_POST) == 0 && isBound();
    }

    ModelEnd home() {
      return ModelEnd.this;
    }

    long from(int stripe) {
      return localAddress(stripe);
    }

    long to(int stripe) {
      return remoteAddress(stripe, stripe % ModelLink.RAILS);
    }

    long keyOf(int stripe) {
      return keys[stripe % ModelLink.RAILS];
    }

    int bits(int stripe) {
      return immediate(stripe);
    }

    boolean completesWhenDelivered(int stripe) {
      return completesOnDelivery(stripe);
    }

    void finished(int stripe) {
      complete(stripe);
    }

    void broke(int stripe) {
      int next = tries(stripe) < TRIES ? 0 : ANY_RAIL;
      if (fail(stripe, next, failure("completion"), Certainty.UNKNOWN)) {
        tasks.defer(this);
      }
    }

    @Override
    protected void reset() {
      // It keeps no account.
    }

    @Override
    protected void changed(int stripe, State before, int beforeRail) {
      // It keeps no account.
    }

    @Override
    public String railLabel(int stripe) {
      return "model rail";
    }
  }

  private static Failure failure(String operation) {
    return new Failure(FailureCause.FABRIC, (int) LOST, operation, "the model fails it");
  }

  /** Messages that are not given back. */
  int taken() {
    return taken;
  }

  @Override
  public EndpointContext endpoint() {
    return context;
  }

  @Override
  public RailStatus rail(int rail) {
    return new RailStatus(
        rail,
        "model",
        RailStatus.State.UP,
        Duration.ZERO,
        Optional.empty(),
        RailStatus.Traffic.NONE,
        RailStatus.Traffic.NONE);
  }

  @Override
  public List<FabricAddress> peerAddresses() {
    return List.of();
  }

  @Override
  public void release() {
    // There is no other peer.
  }

  @Override
  public Transfer overData(TransferListener listener) {
    return new Stripes(listener);
  }

  @Override
  public Transfer overControl(TransferListener listener) {
    return new Stripes(listener);
  }

  @Override
  public boolean takeControlLoss() {
    return false;
  }

  @Override
  public boolean isControlWritten() {
    return true;
  }

  @Override
  public @Nullable Packet takePacket() {
    if (link.refuses()) {
      return null;
    }
    taken++;
    return free.isEmpty() ? new Message() : free.removeLast();
  }

  @Override
  public @Nullable InlineCopy copyInline(long address, int lengthBytes) {
    return null;
  }

  @Override
  public @Nullable Failure ownReadRefusal() {
    return null;
  }

  @Override
  public boolean isControlLost() {
    return false;
  }

  @Override
  public PeerControl peer() {
    return new ModelPeer();
  }
}

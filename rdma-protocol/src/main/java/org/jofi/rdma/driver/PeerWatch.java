package org.jofi.rdma.driver;

import java.util.Optional;
import org.jofi.fabric.LinkTraffic;
import org.jofi.rdma.wire.ControlMessage;
import org.jofi.transport.Failure;
import org.jspecify.annotations.Nullable;

/**
 * Watches the rails to a peer, of which there are several: those on which something is out and
 * nothing comes back are given up. Data and messages go over the same NICs, so that what is known
 * of the one is used for the other. Used with the endpoint's lock held.
 */
final class PeerWatch {
  private final PeerRails data;
  private final PeerRails control;
  private final String peer;
  private final PacketLoss loss;
  private final SilenceDetector dataSilence;

  /** Null with one control rail. */
  private final @Nullable SilenceDetector controlSilence;

  private final DataFlow writes;
  private final DataFlow reads;

  /**
   * @param peer what errors call it
   * @param boundNs how long a rail may be silent
   */
  PeerWatch(
      PeerRails data, PeerRails control, String peer, EndpointSettings settings, long boundNs) {
    this.data = data;
    this.control = control;
    this.peer = peer;
    loss = new PacketLoss(data.count(), this::traffic);
    dataSilence = detector(data, boundNs);
    controlSilence = control.count() == 1 ? null : detector(control, boundNs);
    writes = flow(settings);
    reads = flow(settings);
  }

  private DataFlow flow(EndpointSettings settings) {
    return new DataFlow(
        data.tasks(),
        settings.clock(),
        settings.rates().get(),
        settings.minStripeBytes(),
        dataSilence::answered);
  }

  private SilenceDetector detector(PeerRails rails, long boundNs) {
    return new SilenceDetector(
        rails.count(), rail -> rails.rail(rail).label(peer), boundNs, loss, new Load(rails));
  }

  /** Data and messages over one NIC: few messages may be lost, and what is lost concerns both. */
  private Optional<LinkTraffic> traffic(int rail) {
    Optional<LinkTraffic> ofData = data.rail(rail).traffic();
    return rail < control.count()
        ? ofData.flatMap(one -> control.rail(rail).traffic().map(one::plus))
        : ofData;
  }

  /** What goes to the peer. */
  DataFlow writes() {
    return writes;
  }

  /** What is read from it. */
  DataFlow reads() {
    return reads;
  }

  /** What is out on the rails of a role. */
  private final class Load implements SilenceDetector.Load {
    private final PeerRails rails;
    private final boolean isOfData;

    Load(PeerRails rails) {
      this.rails = rails;
      isOfData = rails.equals(data);
    }

    @Override
    public long out(int rail) {
      return isOfData
          ? writes.out(rail) + reads.out(rail)
          : (long) control.out(rail) * ControlMessage.BYTES;
    }

    @Override
    public double expectedNs(int rail) {
      return isOfData ? writes.expectedNs(rail) + reads.expectedNs(rail) : 0;
    }

    @Override
    public long moved(int rail) {
      return rails.rail(rail).traffic().map(LinkTraffic::movedBytes).orElse(-1L);
    }
  }

  /** A data rail is used again: it may be faster or slower than before. */
  void restored(int rail) {
    writes.restored(rail);
    reads.restored(rail);
  }

  /** A message of the peer arrived. */
  private void heard() {
    dataSilence.heard();
    if (controlSilence != null) {
      controlSilence.heard();
    }
  }

  /** Whether the peer is to be asked whether it is there; once. */
  boolean takeQuestion() {
    boolean ofData = dataSilence.takeQuestion();
    boolean ofControl = controlSilence != null && controlSilence.takeQuestion();
    return ofData || ofControl;
  }

  /**
   * Gives up the rails that are silent.
   *
   * @param now time in which this side looked, in nanoseconds
   * @param heard whether a message of the peer arrived since the last call
   * @return the data rails that are: their endpoints are to be closed
   */
  int look(long now, boolean heard) {
    if (heard) {
      heard();
    }
    data.look();
    control.look();
    lookAtControl(now);
    suspect();
    int silent = dataSilence.look(data.usable(), now);
    for (int left = silent; left != 0; left &= left - 1) {
      int rail = Integer.numberOfTrailingZeros(left);
      data.lose(rail, dataSilence.silence(rail));
    }
    return silent;
  }

  private void lookAtControl(long now) {
    SilenceDetector detector = controlSilence;
    control.unanswered().look();
    int answered = control.takeAnswered();
    if (answered != 0) {
      dataSilence.heard();
    }
    if (detector == null) {
      return;
    }
    for (int left = answered; left != 0; left &= left - 1) {
      detector.answered(Integer.numberOfTrailingZeros(left));
    }
    for (int silent = detector.look(control.usable(), now); silent != 0; silent &= silent - 1) {
      int rail = Integer.numberOfTrailingZeros(silent);
      Failure why = detector.silence(rail);
      control.lose(rail, why);
      control.rail(rail).port().moveOff(control, why);
    }
  }

  /**
   * Nothing more is given to a rail that is half way to being silent, or whose messages are. These
   * go over the same NIC: if they are given up, the rail is, too, once nothing is out on it. So
   * rails that die together are found together. Otherwise each would be given what another one
   * lost.
   */
  private void suspect() {
    if (controlSilence == null || control.count() != data.count()) {
      data.suspect(dataSilence.aging());
      return;
    }
    int usable = data.usable();
    int mute = usable & ~control.usable();
    data.suspect(dataSilence.aging() | controlSilence.aging() | mute);
    for (int left = mute == usable ? 0 : mute; left != 0; left &= left - 1) {
      int rail = Integer.numberOfTrailingZeros(left);
      Failure why = control.rail(rail).cause();
      if (why != null && writes.out(rail) + reads.out(rail) == 0) {
        data.lose(rail, overSameNic(rail, why));
      }
    }
  }

  private Failure overSameNic(int rail, Failure ofMessages) {
    return new Failure(
        ofMessages.cause(),
        ofMessages.errno(),
        data.rail(rail).label(peer),
        "messages over its NIC: " + ofMessages.detail());
  }
}

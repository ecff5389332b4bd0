package org.jofi.rdma.driver;

import java.util.Optional;
import org.jofi.fabric.LinkTraffic;
import org.jofi.rdma.wire.ControlMessage;
import org.jofi.transport.Failure;

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
  private final SilenceDetector controlSilence;
  final DataFlow writes;

  final DataFlow reads;

  PeerWatch(
      PeerRails data, PeerRails control, String peer, EndpointSettings settings, long boundNs) {
    this.data = data;
    this.control = control;
    this.peer = peer;
    loss = new PacketLoss(data.count(), this::traffic);
    dataSilence = new SilenceDetector(data.count(), boundNs, loss, new Load(data));
    controlSilence = new SilenceDetector(control.count(), boundNs, loss, new Load(control));
    writes = flow(settings);
    reads = flow(settings);
  }

  private DataFlow flow(EndpointSettings settings) {
    return new DataFlow(
        data.tasks,
        settings.clock(),
        settings.rates().get(),
        settings.minStripeBytes(),
        dataSilence::answered);
  }

  /** Data and messages over one NIC: few messages may be lost, and what is lost concerns both. */
  private Optional<LinkTraffic> traffic(int rail) {
    Optional<LinkTraffic> ofData = data.rail(rail).traffic();
    return rail < control.count()
        ? ofData.flatMap(one -> control.rail(rail).traffic().map(one::plus))
        : ofData;
  }

  private final class Load implements SilenceDetector.Load {
    private final PeerRails rails;
    private final boolean isOfData;

    Load(PeerRails rails) {
      this.rails = rails;
      isOfData = rails.equals(data);
    }

    @Override
    public String label(int rail) {
      return rails.rail(rail).label(peer);
    }

    @Override
    public long out(int rail) {
      return isOfData
          ? writes.rates.out(rail) + reads.rates.out(rail)
          : (long) control.out(rail) * ControlMessage.BYTES;
    }

    @Override
    public double expectedNs(int rail) {
      return isOfData ? writes.rates.expectedNs(rail) + reads.rates.expectedNs(rail) : 0;
    }

    @Override
    public long moved(int rail) {
      return rails.rail(rail).traffic().map(LinkTraffic::movedBytes).orElse(-1L);
    }

    @Override
    public void silent(int rail, Failure why) {
      rails.lose(rail, why);
      if (!isOfData) {
        rails.rail(rail).port.moveOff(rails, why);
      }
    }
  }

  boolean takeQuestion() {
    boolean ofData = dataSilence.takeQuestion();
    return controlSilence.takeQuestion() || ofData;
  }

  /** Gives up the rails that are silent; the data rails among them, which have to close. */
  int look(long now, boolean heard) {
    data.look();
    control.look();
    control.unanswered.look();
    int answered = control.takeAnswered();
    if (heard || answered != 0) {
      dataSilence.heard();
    }
    if (control.count() > 1) {
      if (heard) {
        controlSilence.heard();
      }
      for (; answered != 0; answered &= answered - 1) {
        controlSilence.answered(Integer.numberOfTrailingZeros(answered));
      }
      controlSilence.look(control.usable(), now);
    }
    suspect();
    return dataSilence.look(data.usable(), now);
  }

  /**
   * Nothing more is given to a rail that is half way to being silent, or whose messages are. These
   * go over the same NIC: if they are given up, the rail is, too, once nothing is out on it. So
   * rails that die together are found together. Otherwise each would be given what another one
   * lost.
   */
  private void suspect() {
    if (control.count() != data.count()) {
      data.suspect(dataSilence.aging());
      return;
    }
    int usable = data.usable();
    int mute = usable & ~control.usable();
    data.suspect(dataSilence.aging() | controlSilence.aging() | mute);
    for (int left = mute == usable ? 0 : mute; left != 0; left &= left - 1) {
      int rail = Integer.numberOfTrailingZeros(left);
      Failure why = control.rail(rail).cause();
      if (why != null && writes.rates.out(rail) + reads.rates.out(rail) == 0) {
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

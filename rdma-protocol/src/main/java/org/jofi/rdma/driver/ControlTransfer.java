package org.jofi.rdma.driver;

import org.jofi.fabric.PostFlags;
import org.jofi.rdma.operation.Certainty;
import org.jofi.rdma.operation.TransferListener;
import org.jofi.rdma.wire.ProtocolLimits;
import org.jofi.transport.Failure;
import org.jspecify.annotations.Nullable;

/**
 * A transfer over the control rails: a stripe goes over whichever takes it. One whose owner may be
 * told late is kept among the {@link UnansweredMessages}, as messages are.
 */
final class ControlTransfer extends RailTransfer {
  private final @Nullable Sent[] sent = new @Nullable Sent[ProtocolLimits.MAX_GROUP];
  private int counted;

  /** Stripes that ask for word of their arrival. */
  private int asking;

  /** Stripes that left, and of which nothing is known. */
  private int left;

  /** Those that left as well, may be lost, and go once more with the next round. */
  private int missing;

  ControlTransfer(PeerRails rails, TransferListener listener) {
    super(rails, listener, ProtocolLimits.MAX_GROUP);
  }

  /** A stripe among what is unanswered. */
  private final class Sent implements Unanswered {
    private final int stripe;
    private long place;

    Sent(int stripe) {
      this.stripe = stripe;
    }

    @Override
    public long place() {
      return place;
    }

    @Override
    public void arrived() {
      over(stripe);
    }

    @Override
    public void goOverAnother() {
      left &= ~(1 << stripe);
      missing |= 1 << stripe;
      rails().tasks().defer(ControlTransfer.this);
    }
  }

  private Sent sent(int stripe) {
    Sent of = sent[stripe];
    if (of == null) {
      of = new Sent(stripe);
      sent[stripe] = of;
    }
    return of;
  }

  @Override
  protected void reset() {
    super.reset();
    assert (left | missing) == 0 : "of the transfer before, stripes are unanswered";
    asking = 0;
  }

  @Override
  protected void added(int stripes) {
    int rail = rails().next();
    for (int stripe = 0; stripe < stripes(); stripe++) {
      if ((stripes & 1 << stripe) != 0 && tries(stripe) == 0) {
        plan().moveTo(stripe, rail);
      }
    }
  }

  @Override
  protected boolean advance() {
    for (int lost = missing; lost != 0; lost &= lost - 1) {
      int stripe = Integer.numberOfTrailingZeros(lost);
      int rail = plan().rail(stripe);
      missing &= ~(1 << stripe);
      move(stripe, rail, rails().reason("fi_write"), Certainty.UNKNOWN);
    }
    return super.advance();
  }

  @Override
  void refusedNow(int stripe) {
    plan().moveTo(stripe, rails().next());
  }

  @Override
  long flags(int stripe, int rail) {
    boolean asks =
        completesOnDelivery(stripe)
            || rails().isFresh(rail)
            || rails().unanswered().asks(rail, isToldLate());
    if (asks) {
      asking |= 1 << stripe;
      return super.flags(stripe, rail);
    }
    asking &= ~(1 << stripe);
    return PostFlags.NONE;
  }

  @Override
  void taken(int stripe, int rail) {
    counted |= 1 << stripe;
    sent(stripe).place = rails().unanswered().posted(rail, (asking & 1 << stripe) != 0);
    rails().wrote(rail);
  }

  @Override
  public void completed(long cookie, long lengthBytes) {
    int stripe = (int) cookie;
    int rail = plan().rail(stripe);
    Sent of = sent(stripe);
    if ((asking & 1 << stripe) != 0) {
      rails().unanswered().arrived(rail, of.place);
      super.completed(cookie, lengthBytes);
      return;
    }
    left |= 1 << stripe;
    rails().unanswered().left(rail, of.place, of);
    if ((left & 1 << stripe) != 0) {
      leave(stripe);
    }
  }

  /** A stripe that left arrived. */
  private void over(int stripe) {
    left &= ~(1 << stripe);
    done(stripe, plan().rail(stripe));
    end(stripe);
  }

  @Override
  public void arrived(int stripes, boolean byThis) {
    for (int those = stripes & missing; those != 0; those &= those - 1) {
      int stripe = Integer.numberOfTrailingZeros(those);
      missing &= ~(1 << stripe);
      over(stripe);
    }
    for (int those = stripes & left; those != 0; those &= those - 1) {
      int stripe = Integer.numberOfTrailingZeros(those);
      int rail = plan().rail(stripe);
      if (byThis) {
        // And so did all that left before it.
        rails().succeeded(rail);
        rails().unanswered().arrived(rail, sent(stripe).place + 1);
      }
      if ((left & 1 << stripe) != 0) {
        rails().unanswered().forget(rail, sent(stripe));
        over(stripe);
      }
    }
  }

  @Override
  public void ask() {
    for (int those = left; those != 0; those &= those - 1) {
      rails().unanswered().ask(plan().rail(Integer.numberOfTrailingZeros(those)));
    }
  }

  @Override
  void done(int stripe, int rail) {
    takeBack(stripe);
  }

  @Override
  void takeBack(int stripe) {
    if ((counted & 1 << stripe) != 0) {
      counted &= ~(1 << stripe);
      rails().written(plan().rail(stripe));
    }
  }

  /**
   * It is written from memory that lasts, and the same bytes go to the same place. If that memory
   * is used again first, a late one brings a line that is too new, or torn, or of another
   * connection: the peer tells by its stamp, or has it early.
   */
  @Override
  public OperationOwner moveOff(long cookie, PeerRails silent, Failure why) {
    if (!silent.equals(rails())) {
      return this;
    }
    int stripe = (int) cookie;
    if (move(stripe, plan().rail(stripe), why, Certainty.UNKNOWN)) {
      rails().tasks().defer(this);
    }
    return NOBODY;
  }

  @Override
  public void moveLate() {
    // It tries every rail as it is.
  }

  @Override
  public void takeTurn() {
    // Nothing is counted, so it has no turn.
  }

  @Override
  public long progress() {
    return 0;
  }
}

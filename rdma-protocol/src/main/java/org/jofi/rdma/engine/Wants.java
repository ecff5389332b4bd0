package org.jofi.rdma.engine;

import org.jofi.rdma.operation.Packet;
import org.jofi.rdma.operation.SentListener;
import org.jofi.rdma.operation.Task;
import org.jofi.rdma.wire.ControlMessage;
import org.jofi.transport.Failure;
import org.jspecify.annotations.Nullable;

/**
 * Tells the receiver whether sends wait for announcements, which it withholds otherwise. A lost
 * message does no harm: it is sent again while something waits, and what is announced for nothing
 * is used all the same.
 */
final class Wants extends Task implements SentListener {
  private final Sender sender;
  private long sequence;
  private long told;
  private boolean on;
  private boolean underWay;

  Wants(Sender sender) {
    this.sender = sender;
  }

  /** Sends wait for announcements. */
  void announcements() {
    if (!on) {
      on = true;
      again();
    }
  }

  /** Nothing waits any more. */
  void nothing() {
    if (on) {
      on = false;
      again();
    }
  }

  private void again() {
    sequence++;
    sender.link().sink().tasks().defer(this);
  }

  /** Something waits for long: for credit in vain, or what was told is lost. */
  void stillWaiting() {
    on = true;
    again();
  }

  @Override
  protected boolean advance() {
    if (underWay || told == sequence || !isWanted(0)) {
      return true;
    }
    Packet message = sender.link().sink().takePacket();
    if (message == null) {
      return false;
    }
    told = sequence;
    underWay = true;
    ControlMessage.putWant(
        message.memory(), message.at(), sender.link().id(), sequence, on, sender.seen());
    sender.link().send(message, this, 0);
    return true;
  }

  @Override
  public void sent(long cookie, @Nullable Failure why) {
    underWay = false;
    if (told != sequence) {
      sender.link().sink().tasks().defer(this);
    }
  }

  @Override
  public boolean isWanted(long cookie) {
    return sender.failure() == null;
  }
}

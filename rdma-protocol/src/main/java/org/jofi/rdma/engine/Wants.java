package org.jofi.rdma.engine;

import org.jofi.rdma.operation.Packet;
import org.jofi.rdma.operation.SentListener;
import org.jofi.rdma.operation.Task;
import org.jofi.rdma.wire.ControlMessage;
import org.jofi.transport.Failure;
import org.jspecify.annotations.Nullable;

/**
 * Asks the receiver for announcements, which it withholds otherwise. A lost message does no harm:
 * the sender asks again while something waits, and what is announced for nothing is used all the
 * same.
 */
final class Wants extends Task implements SentListener {
  private final Sender sender;
  private boolean asked;
  private boolean underWay;

  Wants(Sender sender) {
    this.sender = sender;
  }

  /** Asks, as soon as a packet is free. */
  void ask() {
    asked = true;
    sender.link().sink().tasks().defer(this);
  }

  @Override
  protected boolean advance() {
    if (underWay || !asked || !isWanted(0)) {
      return true;
    }
    Packet message = sender.link().sink().takePacket();
    if (message == null) {
      return false;
    }
    asked = false;
    underWay = true;
    ControlMessage.putWant(message.memory(), message.at(), sender.link().id(), sender.seen());
    sender.link().send(message, this, 0);
    return true;
  }

  @Override
  public void sent(long cookie, @Nullable Failure why) {
    underWay = false;
    if (asked) {
      sender.link().sink().tasks().defer(this);
    }
  }

  @Override
  public boolean isWanted(long cookie) {
    return sender.failure() == null;
  }
}

package org.jofi.rdma.engine;

import java.util.Arrays;
import org.jofi.rdma.operation.Packet;
import org.jofi.rdma.operation.SentListener;
import org.jofi.rdma.wire.EagerPacket;
import org.jofi.transport.Failure;
import org.jspecify.annotations.Nullable;

/** Short messages in one packet, and their requests until a provider took it. Used again. */
final class EagerBatch implements SentListener {
  private final EagerSends home;
  private @Nullable PostedSend[] sends = new @Nullable PostedSend[1];
  Packet packet;
  private int count;
  int bytes;
  private long seen;

  /** Whether no provider took it yet. */
  boolean waits;

  private long payloadBytes;

  EagerBatch(EagerSends home, Packet packet) {
    this.home = home;
    this.packet = packet;
  }

  /** Begins anew, with the ordinal of its first message. */
  void begin(Packet into, long ordinal, long receivesSeen) {
    packet = into;
    seen = receivesSeen;
    bytes = EagerPacket.begin(into.memory(), ordinal, receivesSeen);
    waits = true;
    payloadBytes = 0;
  }

  /** Whether a message fits, and this side saw no further receive since it began. */
  boolean takes(int lengthBytes, int packetBytes, long receivesSeen) {
    return seen == receivesSeen
        && count < EagerPacket.MOST_MESSAGES
        && EagerPacket.after(bytes + EagerPacket.MESSAGE_BYTES, lengthBytes) <= packetBytes;
  }

  /** Adds a message; where its bytes are to be copied to. */
  long add(PostedSend send, int lengthBytes) {
    Packet into = packet;
    if (count == sends.length) {
      sends = Arrays.copyOf(sends, 2 * count);
    }
    sends[count++] = send;
    payloadBytes += lengthBytes;
    int payload = EagerPacket.putMessage(into.memory(), bytes, send.tag, lengthBytes);
    bytes = EagerPacket.after(payload, lengthBytes);
    return into.memory().address() + payload;
  }

  @Override
  public void posted(long cookie) {
    // Once: a packet that failed is posted again, and dropped by a receiver that has it.
    if (waits) {
      waits = false;
      home.posted(count, payloadBytes);
      end(null);
    }
  }

  @Override
  public void sent(long cookie, @Nullable Failure why) {
    waits = false;
    end(why);
    home.sent(this, why);
  }

  @Override
  public boolean mayBeToldLate() {
    return true;
  }

  @Override
  public boolean isWanted(long cookie) {
    // What was posted once is over for its senders: it is not dropped because this side closes.
    return !waits || home.isWanted();
  }

  private void end(@Nullable Failure why) {
    int ended = count;
    count = 0;
    for (int i = 0; i < ended; i++) {
      PostedSend send = sends[i];
      sends[i] = null;
      if (send != null) {
        send.left(why);
      }
    }
  }
}

package org.jofi.rdma.connect;

import java.lang.foreign.MemorySegment;
import java.util.function.LongPredicate;
import org.jofi.rdma.nic.ArrivalSink;
import org.jofi.rdma.wire.MessageHeader;
import org.jofi.rdma.wire.MessageType;
import org.jofi.transport.Failure;

/** Loses the first arrivals of a kind, as nobody reports, and hands on the others. */
final class LossyArrivals implements ArrivalSink {
  private final ConnectionTable connections;
  private final LongPredicate lostImmediates;
  private final MessageType lostType;
  private int toLose;
  int lost;

  /** Loses so many messages of that type. */
  LossyArrivals(Node node, MessageType type, int count) {
    connections = node.connections;
    lostImmediates = _ -> false;
    lostType = type;
    toLose = count;
    node.host.sink = this;
  }

  /** Loses so many immediates. */
  LossyArrivals(Node node, int count) {
    connections = node.connections;
    lostImmediates = _ -> true;
    lostType = MessageType.REFUSE;
    toLose = count;
    node.host.sink = this;
  }

  @Override
  public void immediate(long data) {
    if (toLose > 0 && lostImmediates.test(data)) {
      toLose--;
      lost++;
    } else {
      connections.immediate(data);
    }
  }

  @Override
  public void message(MemorySegment memory, long lengthBytes) {
    if (toLose > 0 && MessageHeader.type(memory) == lostType) {
      toLose--;
      lost++;
    } else {
      connections.message(memory, lengthBytes);
    }
  }

  @Override
  public void broken(Failure why) {
    connections.broken(why);
  }

  @Override
  public void railClosed() {
    connections.railClosed();
  }
}

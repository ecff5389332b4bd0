package org.jofi.rdma.endpoint;

import java.lang.foreign.MemorySegment;
import org.jofi.fabric.CompletionError;
import org.jofi.fabric.FabricErrno;
import org.jofi.rdma.memory.BlockFreelist;
import org.jofi.transport.Failure;
import org.jspecify.annotations.Nullable;

/**
 * A message on its way out, in a buffer of its own, or bare immediate data. Used again and again;
 * taken from {@link OutgoingMessages}.
 */
public final class OutgoingMessage extends Posting implements OperationOwner {
  private final OutgoingMessages home;
  private final BlockFreelist buffers;
  private final int entry;
  private @Nullable RailPort port;
  private long peer;
  private int lengthBytes;
  private int data;
  private boolean bare;
  private SentListener listener = SentListener.NOBODY;
  private long cookie;

  OutgoingMessage(OutgoingMessages home, BlockFreelist buffers, int entry) {
    this.home = home;
    this.buffers = buffers;
    this.entry = entry;
  }

  /** Where to write the message. */
  public MemorySegment memory() {
    return buffers.memory(entry);
  }

  /** Where in the memory it starts. */
  public long at() {
    return buffers.offset(entry);
  }

  void address(RailPort to, long peerNumber, int length, SentListener who, long whose) {
    port = to;
    peer = peerNumber;
    lengthBytes = length;
    bare = false;
    listener = who;
    cookie = whose;
  }

  void addressImmediate(RailPort to, long peerNumber, int bits, SentListener who, long whose) {
    address(to, peerNumber, 0, who, whose);
    data = bits;
    bare = true;
  }

  @Override
  protected boolean post() {
    RailPort to = port;
    if (to == null) {
      return true;
    }
    long from = buffers.address(entry);
    long descriptor = buffers.descriptor(entry, to.number());
    int answer =
        bare
            ? to.sendData(this, 0, from, 0, descriptor, data, peer)
            : to.send(this, 0, from, lengthBytes, descriptor, peer);
    if (answer == -FabricErrno.EAGAIN) {
      return false;
    }
    if (answer != 0) {
      finish(Failures.ofPost(bare ? "fi_senddata" : "fi_send", to, -answer));
    }
    return true;
  }

  @Override
  public void completed(long operation, long bytes) {
    finish(null);
  }

  @Override
  public void failed(long operation, RailPort failing, CompletionError error) {
    finish(Failures.of(failing, error));
  }

  private void finish(@Nullable Failure failure) {
    SentListener told = listener;
    long whose = cookie;
    port = null;
    listener = SentListener.NOBODY;
    home.give(this);
    told.sent(whose, failure);
  }
}

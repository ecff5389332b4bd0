package org.jofi.rdma.driver;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.PostFlags;
import org.jofi.rdma.memory.RegisteredBuffers;
import org.jofi.rdma.nic.Failures;
import org.jofi.rdma.nic.OperationOwner;
import org.jofi.rdma.nic.Post;
import org.jofi.rdma.nic.RailPort;
import org.jofi.rdma.nic.RailUser;
import org.jofi.rdma.operation.Packet;
import org.jofi.rdma.operation.SentListener;
import org.jofi.rdma.operation.Task;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.jspecify.annotations.Nullable;

/**
 * A message that is being sent, in a buffer of its own, or immediate data without a message. {@link
 * OutgoingMessages} pools it.
 *
 * <p>It goes over any control rail that accepts it, and over another one if that fails. It may
 * arrive twice then, which does no harm.
 */
final class OutgoingMessage extends Task implements Packet, OperationOwner {
  private static final Failure DROPPED =
      new Failure(FailureCause.CLOSED, 0, "fi_send", "nobody waits for it any more");

  private final OutgoingMessages home;

  /** Of its buffer, on each control rail: these are never opened anew. */
  private final long[] descriptors;

  private final MemorySegment memory;
  private final Post post = new Post();

  /** Which it goes over, from when it is taken until it is over. */
  @Nullable PeerRails rails;

  private int rail;
  private int tries;
  private int lengthBytes;
  private int data;
  private SentListener listener = SentListener.NOBODY;
  private long cookie;
  long place;
  private boolean asks;

  /** Whether it was not taken at once: its sender may not want it any more. */
  private boolean waited;

  /** Whether it goes over that rail, though it may be given up, and over no other. */
  private boolean pinned;

  /** Whether it is immediate data without a message. */
  private boolean bare;

  /** Whether it is posted when queues have delivered. */
  private boolean defers;

  /** Whether it goes over the rail on which the fewest are out. */
  private boolean evades;

  /** Whether its rails are known for it alone. */
  boolean ownsRails;

  OutgoingMessage(OutgoingMessages home, RegisteredBuffers.Buffer buffer, int rails) {
    this.home = home;
    descriptors = new long[rails];
    Arrays.setAll(descriptors, buffer::descriptor);
    memory = buffer.memory();
    post.address = memory.address();
  }

  @Override
  public MemorySegment memory() {
    return memory;
  }

  @Override
  public void send(int length, SentListener who, long whose) {
    PeerRails to = rails;
    if (to == null) {
      throw new IllegalStateException("a message to nobody");
    }
    to.messages++;
    if (!pinned) {
      rail = to.count() == 1 ? 0 : to.next();
    }
    if (evades) {
      rail = to.leastBusy(rail);
    }
    tries = 0;
    waited = false;
    lengthBytes = length;
    listener = who;
    cookie = whose;
    if (defers) {
      home.tasks.defer(this);
    } else {
      home.tasks.submit(this);
    }
  }

  @Override
  public void tell(int length, SentListener who, long whose) {
    evades = true;
    send(length, who, whose);
  }

  @Override
  public void sendImmediate(int bits, SentListener who, long whose) {
    data = bits;
    bare = true;
    defers = true;
    send(0, who, whose);
  }

  /** Sends it over that rail, though it may be given up, and over no other. */
  void sendOver(int only, int length) {
    rail = only;
    pinned = true;
    send(length, SentListener.NOBODY, 0);
  }

  /** The same with nothing in it, which the peer ignores, when queues have delivered. */
  void sendLater(int only, SentListener who, long whose) {
    rail = only;
    pinned = true;
    defers = true;
    send(0, who, whose);
  }

  @Override
  protected boolean advance() {
    PeerRails to = rails;
    while (to != null) {
      if (waited && !listener.isWanted(cookie)) {
        finish(DROPPED);
        return true;
      }
      waited = true;
      if (!pinned && (rail == PeerRails.NONE || !to.isUsable(rail))) {
        rail = to.thatOrAnother(rail);
      }
      if (rail == PeerRails.NONE) {
        finish(to.reason(bare ? "fi_senddata" : "fi_send"));
        return true;
      }
      PeerRail over = to.rail(rail);
      RailPort port = over.port;
      asks = !over.hasCarried || to.unanswered.asks(rail, listener.mayBeToldLate());
      post.lengthBytes = lengthBytes;
      post.descriptor = descriptors[port.number];
      post.peer = over.entry;
      post.flags = asks ? over.flags() : PostFlags.NONE;
      post.bringsData = bare;
      post.data = data;
      int answer = port.post(this, 0, post);
      if (answer == -FabricErrno.EAGAIN) {
        rail = pinned ? rail : to.next();
        return false;
      }
      tries++;
      if (answer == 0) {
        over.messagesOut++;
        place = to.unanswered.posted(rail, asks);
        listener.posted(cookie);
        return true;
      }
      Failure why = Failures.ofPost(bare ? "fi_senddata" : "fi_send", port, -answer);
      rail = railAfter(to, why);
      if (rail == PeerRails.NONE) {
        finish(why);
        return true;
      }
    }
    return true;
  }

  @Override
  public void completed(long operation, long bytes) {
    PeerRails to = rails;
    if (to != null && !asks) {
      to.unanswered.left(rail, place, this);
      return;
    }
    if (to != null) {
      to.succeeded(rail);
      to.unanswered.arrived(rail, place);
    }
    arrived();
  }

  /** It is back from a provider: its rails; null if a copy of it goes in its place. */
  private @Nullable PeerRails back() {
    PeerRails to = rails;
    if (to != null) {
      to.rail(rail).messagesOut--;
    }
    return to;
  }

  /** It arrived: that was told, or that of another which followed it. */
  void arrived() {
    back();
    finish(null);
  }

  /** It may not have arrived, and never will if it did not: it goes once more. */
  void goOverAnother() {
    PeerRails to = back();
    if (to != null) {
      rail = to.after(rail);
      tries = 0;
      home.tasks.defer(this);
    }
  }

  @Override
  public void failed(long operation, RailPort failing, Failure why) {
    PeerRails to = back();
    rail = to == null ? PeerRails.NONE : railAfter(to, why);
    if (rail == PeerRails.NONE) {
      finish(why);
    } else {
      home.tasks.defer(this);
    }
  }

  private int railAfter(PeerRails to, Failure why) {
    if (pinned) {
      // It says nothing of the rail, which may be given up already, but of what left before it.
      to.unanswered.lost(rail);
      return PeerRails.NONE;
    }
    return to.retry(rail, why, tries);
  }

  @Override
  public void lost(long operation, RailPort port, Failure why) {
    // The NIC may still read the buffer, so it is never reused.
    SentListener told = listener;
    if (!sendCopy()) {
      listener = SentListener.NOBODY;
      told.sent(cookie, why);
    }
  }

  @Override
  public OperationOwner moveOff(long operation, RailUser silent, Failure why) {
    if (silent.equals(rails)) {
      // Its buffer is free when it comes back.
      sendCopy();
    }
    return this;
  }

  /** A copy goes over another rail, in its place; false if there is no such rail, or no buffer. */
  private boolean sendCopy() {
    PeerRails to = rails;
    OutgoingMessage copy =
        to == null || pinned || to.after(rail) == PeerRails.NONE ? null : home.take(to);
    if (to == null || copy == null) {
      return false;
    }
    MemorySegment.copy(memory, 0, copy.memory, 0, lengthBytes);
    copy.data = data;
    copy.bare = bare;
    copy.ownsRails = ownsRails;
    copy.defers = true;
    copy.send(lengthBytes, listener, cookie);
    to.rail(rail).messagesOut--;
    to.messages--;
    rails = null;
    ownsRails = false;
    listener = SentListener.NOBODY;
    return true;
  }

  private void finish(@Nullable Failure failure) {
    SentListener told = listener;
    long whose = cookie;
    PeerRails to = rails;
    if (to != null) {
      to.messages--;
      if (ownsRails) {
        to.close();
      }
    }
    listener = SentListener.NOBODY;
    home.give(this);
    told.sent(whose, failure);
  }

  /** As it is when nobody uses it. */
  void clear() {
    rails = null;
    pinned = false;
    bare = false;
    defers = false;
    evades = false;
    ownsRails = false;
  }
}

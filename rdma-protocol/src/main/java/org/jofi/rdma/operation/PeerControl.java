package org.jofi.rdma.operation;

import java.util.function.BooleanSupplier;
import org.jofi.rdma.wire.RailUpdate;
import org.jofi.transport.Failure;
import org.jspecify.annotations.Nullable;

/**
 * A peer, which all connections to it share: whether it is heard, and what the two sides have to
 * tell each other about the data rails between them: which endpoints are to be closed, as a fence
 * for what was lost on its way there, and where other ones are. Whichever connection is asked first
 * asks and tells.
 */
public interface PeerControl {
  void heard();

  /** It did not answer in time: until it is heard, it is no use to wait for it. */
  void fellSilent();

  /** Whether it {@linkplain #fellSilent fell silent}, and was not heard since. */
  boolean isSilent();

  /**
   * Whether the peer is to be asked whether it is there: a rail may be silent, or its process dead.
   * True once for all connections to it, until the next question is due.
   */
  boolean takeQuestion();

  /**
   * Why nothing that is out to the peer over data rails moves, though the peer may be heard; null
   * if something does, or nothing is out.
   *
   * @param now time in which this side looked, in nanoseconds
   * @param boundNs how long nothing may move
   */
  @Nullable Failure stall(long now, long boundNs);

  /** What the peer is to be sent of a data rail now; null if nothing is due. */
  @Nullable RailUpdate takeUpdate();

  /**
   * The peer told of its endpoint, and wants this side's to be closed if what it posted there is
   * lost.
   *
   * @return false if it names a rail or an endpoint of this side's that there never was, or a
   *     provider refuses its address: that rail stays out of use, and the peer tells of it again
   */
  boolean told(RailUpdate update);

  /** The peer is not waited for any more: fences are not, either, and nothing is repeated. */
  void giveUpFences();

  /**
   * Closes this side's endpoints over which a peer may write that nobody waits for any more. Over
   * sockets, that a region closes does not stop a write that began.
   *
   * @return whether that is done; at once where nothing of the peer can land in a closed region, or
   *     there is a single rail
   */
  BooleanSupplier cut(Failure why);

  /** Sends a message over the control rail of a data rail's NIC, though it may be given up. */
  void sendOver(int rail, Packet packet, int lengthBytes);
}

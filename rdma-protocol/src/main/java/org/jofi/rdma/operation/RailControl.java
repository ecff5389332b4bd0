package org.jofi.rdma.operation;

import java.util.function.BooleanSupplier;
import org.jofi.rdma.wire.RailUpdate;
import org.jofi.transport.Failure;
import org.jspecify.annotations.Nullable;

/**
 * What the two sides have to tell each other about the data rails between them: which endpoints are
 * to be closed, as a fence for what was lost on its way there, and where other ones are. All
 * connections to a peer share it; whichever of them is asked first tells.
 */
public interface RailControl {
  /** What the peer is to be sent of a data rail now; null if nothing is due. */
  @Nullable RailUpdate takeUpdate();

  /**
   * The peer told of its endpoint, and wants this side's to be closed if what it posted there is
   * lost.
   *
   * @return false if it names an endpoint of this side's that there never was
   * @throws IllegalArgumentException if its address is none
   * @throws org.jofi.fabric.FabricException if the provider refuses it
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

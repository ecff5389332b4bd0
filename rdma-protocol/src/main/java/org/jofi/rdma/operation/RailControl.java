package org.jofi.rdma.operation;

import java.util.function.BooleanSupplier;
import org.jofi.rdma.wire.RailUp;
import org.jofi.transport.Failure;

/**
 * What the two sides have to tell each other about the data rails between them: which endpoints are
 * to be closed, as a fence for what was lost on its way there, and where other ones are. All
 * connections to a peer share it; whichever of them is asked first tells.
 */
public interface RailControl {
  /**
   * A fence that the peer is to be asked for: the address of its endpoint, as its hash, and above
   * that the data rail. Negative if there is none; until it is answered, it comes again.
   */
  long takeFence();

  /** The peer closed its endpoint of that address, as its hash, on a data rail. */
  void fenced(int rail, int address);

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

  /**
   * Whether this side's endpoint of that address is closed, for which the peer asks; if not, it is
   * to be closed soon.
   *
   * @param address as its hash
   */
  boolean isFenced(int rail, int address);

  /** A data rail over which the peer is to be told of this side's endpoint; negative if none is. */
  int takeReturning();

  /** This side's endpoint on a data rail, for the peer. */
  RailUp railUp(int rail);

  /**
   * The peer told of its endpoint, over the rail that it is of.
   *
   * @param answers whether it answers this side, so that the rail works in both directions
   * @throws IllegalArgumentException if that is no address
   * @throws org.jofi.fabric.FabricException if the provider refuses it
   */
  void told(RailUp endpoint, boolean answers);

  /** Sends a message over the control rail of a data rail's NIC, though it may be given up. */
  void sendOver(int rail, Packet packet, int lengthBytes);
}

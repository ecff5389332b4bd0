package org.jofi.libfabric;

import java.util.ArrayList;
import java.util.List;
import org.jofi.fabric.AddressText;

/**
 * The connections that a tcp endpoint accepted and that said nothing since, as when a rail swallows
 * what a peer sends, or when whoever connected is no peer.
 *
 * <p>The provider forgets them when the endpoint closes: it frees what listened, and what is to
 * handle their first byte, or their end, reads that memory. So the process crashes at some later
 * poll of the domain. (xnet_pep_close in the sources of 1.17 to 2.6: "We need to abort any
 * outstanding active connection requests".) If they end while the endpoint is open, the next poll
 * lets go of them.
 */
final class UnheardConnections {
  /**
   * ofi_rxm looks at connections every 10 ms (rxm_cm_progress_interval). A socket may stay that
   * long though the provider is done with it, if errno is not as it takes it to be.
   */
  private static final long BOUND_NS = 50_000_000;

  private UnheardConnections() {}

  /**
   * Ends them, and what listens, so that none follows, and has the provider let go of them.
   *
   * @param address where the endpoint listens, as {@link AddressText#of} has it
   * @param poll lets the provider work
   */
  static void end(String address, Runnable poll) {
    try (TcpSockets sockets = new TcpSockets()) {
      for (int socket : TcpSockets.descriptors()) {
        if (sockets.local(socket).equals(address) && sockets.listens(socket)) {
          LibC.shutdown(socket);
        }
      }
      List<Integer> ended = new ArrayList<>();
      for (int socket : TcpSockets.descriptors()) {
        if (sockets.local(socket).equals(address) && sockets.isUnheard(socket)) {
          LibC.shutdown(socket);
          ended.add(socket);
        }
      }
      long start = System.nanoTime();
      while (!ended.isEmpty() && System.nanoTime() - start < BOUND_NS) {
        poll.run();
        ended.removeIf(socket -> !sockets.local(socket).equals(address));
      }
    }
  }
}

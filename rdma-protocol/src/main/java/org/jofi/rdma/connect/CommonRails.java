package org.jofi.rdma.connect;

import java.math.BigInteger;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.jofi.fabric.AddressText;
import org.jofi.rdma.wire.FabricAddress;

/**
 * Which rails of two sides go together where they have unequally many.
 *
 * @param own rails of this side, in their order
 * @param peer the rail of the peer that each goes with
 */
record CommonRails(List<Integer> own, List<Integer> peer) {
  CommonRails {
    own = List.copyOf(own);
    peer = List.copyOf(peer);
  }

  /**
   * Those in one subnet. If there are none, routes may join them: then the first ones, as many as
   * the side with fewer has. Equally many go together in their order.
   *
   * @param networks by rail of this side, its network: over IP its subnet, such as {@code
   *     10.77.0.0/24}
   * @param addresses by rail of the peer, where it is reached
   */
  static CommonRails of(List<String> networks, List<FabricAddress> addresses) {
    List<Integer> own = new ArrayList<>();
    List<Integer> peer = new ArrayList<>();
    if (networks.size() != addresses.size()) {
      for (int rail = 0; rail < networks.size(); rail++) {
        for (int other = 0; other < addresses.size(); other++) {
          if (!peer.contains(other) && isIn(networks.get(rail), addresses.get(other).bytes())) {
            own.add(rail);
            peer.add(other);
            break;
          }
        }
      }
    }
    if (!own.isEmpty()) {
      return new CommonRails(own, peer);
    }
    int fewer = Math.min(networks.size(), addresses.size());
    List<Integer> first = IntStream.range(0, fewer).boxed().toList();
    return new CommonRails(first, first);
  }

  /** Whether a socket's address is in a subnet; false for what is none. */
  private static boolean isIn(String network, byte[] socket) {
    byte[] host = AddressText.ip(socket);
    int slash = network.indexOf('/');
    if (host.length == 0 || !network.matches("[0-9a-f.:]+/[0-9]{1,3}")) {
      return false;
    }
    try {
      byte[] subnet = InetAddress.ofLiteral(network.substring(0, slash)).getAddress();
      int hostBits = Byte.SIZE * host.length - Integer.parseInt(network.substring(slash + 1));
      return subnet.length == host.length
          && hostBits >= 0
          && new BigInteger(subnet).xor(new BigInteger(host)).shiftRight(hostBits).signum() == 0;
    } catch (IllegalArgumentException noSubnet) {
      return false;
    }
  }
}

package org.jofi.rdma.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashSet;
import java.util.List;
import java.util.stream.IntStream;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.jofi.rdma.wire.FabricAddress;

/** Rails of unequal sets: those of one subnet go together, each once. */
class CommonRailsProperties {

  private static FabricAddress ipv4(int a, int b, int c, int d) {
    return FabricAddress.of(
        ByteBuffer.allocate(16)
            .order(ByteOrder.nativeOrder())
            .putShort((short) 2)
            .put(new byte[] {7, 8, (byte) a, (byte) b, (byte) c, (byte) d})
            .array());
  }

  private static FabricAddress ipv6(int... last) {
    ByteBuffer address =
        ByteBuffer.allocate(28).order(ByteOrder.nativeOrder()).putShort((short) 10);
    address.put(8, (byte) 0xfd);
    for (int i = 0; i < last.length; i++) {
      address.put(24 - last.length + i, (byte) last[i]);
    }
    return FabricAddress.of(address.array());
  }

  /** Subnets 10.0.N.0/24 of which the two sides have some, perhaps several times. */
  @Property(tries = 500)
  void eachGoesWithOneOfItsSubnet(
      @ForAll @Size(min = 1, max = 8) List<@IntRange(min = 0, max = 9) Integer> mine,
      @ForAll @Size(min = 1, max = 8) List<@IntRange(min = 0, max = 9) Integer> theirs) {
    CommonRails common =
        CommonRails.of(
            mine.stream().map("10.0.%d.0/24"::formatted).toList(),
            theirs.stream().map(subnet -> ipv4(10, 0, subnet, 200)).toList());
    List<Integer> own = common.own();
    List<Integer> peer = common.peer();
    assertEquals(own.size(), peer.size());
    assertEquals(own.stream().sorted().distinct().toList(), own);
    assertEquals(peer.size(), new HashSet<>(peer).size());
    int fewer = Math.min(mine.size(), theirs.size());
    if (mine.size() != theirs.size() && mine.stream().anyMatch(theirs::contains)) {
      for (int i = 0; i < own.size(); i++) {
        assertEquals(mine.get(own.get(i)), theirs.get(peer.get(i)));
      }
      // As many of each subnet as the side with fewer of it has.
      int most =
          IntStream.range(0, 10)
              .map(
                  subnet ->
                      (int)
                          Math.min(
                              mine.stream().filter(one -> one == subnet).count(),
                              theirs.stream().filter(one -> one == subnet).count()))
              .sum();
      assertEquals(most, own.size());
    } else {
      assertEquals(IntStream.range(0, fewer).boxed().toList(), own);
      assertEquals(own, peer);
    }
  }

  private static void joined(boolean expected, String network, FabricAddress address) {
    // A second rail of this side that is nowhere, so that the two sets are unequal.
    CommonRails common = CommonRails.of(List.of("10.255.0.0/16", network), List.of(address));
    assertEquals(expected ? List.of(1) : List.of(0), common.own(), network + " " + address);
  }

  @Example
  void prefixesEndWithinBytes() {
    joined(true, "10.77.4.0/23", ipv4(10, 77, 5, 1));
    joined(false, "10.77.4.0/23", ipv4(10, 77, 6, 1));
    joined(true, "200.0.0.128/25", ipv4(200, 0, 0, 255));
    joined(false, "200.0.0.128/25", ipv4(200, 0, 0, 127));
    joined(true, "10.1.2.3/32", ipv4(10, 1, 2, 3));
    joined(true, "fd00::/64", ipv6(0, 0, 0, 9));
    joined(false, "fd00::100/120", ipv6(2, 9));
    joined(true, "fd00::100/120", ipv6(1, 9));
  }

  @Example
  void whatIsNoSubnetJoinsNothing() {
    for (String network :
        List.of(
            "",
            "efa",
            "IB-0xfe80000000000000",
            "10.0.0.0",
            "10.0.0.0/33",
            "10.0.0.0/999",
            "./8",
            "fd00::/64",
            "host:1/x")) {
      joined(false, network, ipv4(10, 0, 0, 1));
      joined(false, network, FabricAddress.of(new byte[] {1}));
    }
    joined(false, "10.0.0.0/8", ipv6(1));
    assertTrue(CommonRails.of(List.of("a", "b"), List.of(ipv4(1, 2, 3, 4))).own().contains(0));
  }
}

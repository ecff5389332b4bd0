package org.jofi.cli.ranks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.List;
import org.jofi.cli.ranks.FabricEnd.Rail;
import org.junit.jupiter.api.Test;

class CommonRailsTest {
  /** An end with a NIC for each subnet, which is named after it and its place. */
  private static FabricEnd end(String host, String... subnets) {
    List<Rail> rails =
        Arrays.stream(subnets)
            .map(subnet -> new Rail(host + "-" + subnet, "", subnet, 0, ""))
            .toList();
    return new FabricEnd(FabricEnd.JOFI, host, "kernel " + host, "net", "fabric", "net", rails);
  }

  private static List<String> used(CommonRails common) {
    return common.ends().stream()
        .map(end -> end.rails().stream().map(Rail::nic).toList().toString())
        .toList();
  }

  @Test
  void whatAllHaveIsUsedInOneOrder() {
    CommonRails common =
        CommonRails.of(List.of(end("a", "s1", "s2", "s3"), end("b", "s3", "s9", "s1", "s2")));
    assertEquals(List.of("[a-s1, a-s2, a-s3]", "[b-s1, b-s2, b-s3]"), used(common));
    assertTrue(common.isUnchanged(0) && !common.isUnchanged(1));
    assertEquals("=b-s1,b-s2,b-s3", common.names(1));
    CommonRails three =
        CommonRails.of(List.of(end("a", "s1", "s2"), end("b", "s2", "s1"), end("c", "s2")));
    assertEquals(List.of("[a-s2]", "[b-s2]", "[c-s2]"), used(three));
  }

  @Test
  void whatIsEqualStays() {
    CommonRails same = CommonRails.of(List.of(end("a", "s1", "s2"), end("b", "s1", "s2")));
    assertTrue(same.isUnchanged(0) && same.isUnchanged(1));
    CommonRails joined = CommonRails.of(List.of(end("a", "s1", "s2"), end("b", "s1", "s3")));
    assertTrue(joined.isUnchanged(0) && joined.isUnchanged(1), "routes may join s2 and s3");
    CommonRails turned = CommonRails.of(List.of(end("a", "s1", "s2"), end("b", "s2", "s1")));
    assertEquals(List.of("[a-s1, a-s2]", "[b-s1, b-s2]"), used(turned));
  }

  @Test
  void thoseThatNothingTellsApartGoByTheirPlace() {
    CommonRails routed = CommonRails.of(List.of(end("a", "s1", "s2"), end("b", "s3")));
    assertEquals(List.of("[a-s1]", "[b-s3]"), used(routed));
    CommonRails fabric = CommonRails.of(List.of(end("a", "efa"), end("b", "efa", "efa")));
    assertEquals(List.of("[a-efa]", "[b-efa]"), used(fabric));
  }
}

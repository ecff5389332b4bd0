package org.jofi.cli;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jofi.cli.collectives.CollectivesPlan;
import org.jofi.cli.collectives.DeviceArrays;
import org.jofi.cli.ranks.RingLinks;
import org.jofi.transport.Registration;
import org.jofi.transport.Use;

/** How NICs access the GPU memory of arrays. */
final class DevicePaths {
  private DevicePaths() {}

  /**
   * How this rank's NICs access the longest array of a plan. It is allocated, registered and freed
   * again, so that too little memory is noticed before anything is measured.
   *
   * @throws org.jofi.fabric.FabricException if there is too little memory
   * @throws org.jofi.transport.TransportException if the NICs refuse it
   */
  static String of(CollectivesPlan plan, DeviceArrays arrays, RingLinks links) {
    long longest = plan.sizesBytes().stream().mapToLong(Long::longValue).max().orElseThrow();
    try (DeviceArrays.Array array = arrays.allocate(longest);
        Registration sent = links.toNext().register(array.memory(), Use.SEND);
        Registration received = links.fromPrevious().register(array.memory(), Use.RECEIVE)) {
      return joined(List.of(sent.path(), received.path()));
    }
  }

  /**
   * Joins the texts of paths into one. Of texts that differ only in their reasons, only the first
   * is used.
   */
  static String joined(List<String> paths) {
    Map<String, String> ways = new LinkedHashMap<>();
    for (String path : paths) {
      int reason = path.indexOf(';');
      ways.putIfAbsent(reason < 0 ? path : path.substring(0, reason), path);
    }
    return String.join("; ", ways.values());
  }
}

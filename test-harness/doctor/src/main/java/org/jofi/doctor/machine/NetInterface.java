package org.jofi.doctor.machine;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A network interface of the kernel.
 *
 * @param name such as {@code ens6f0}
 * @param mac its address; empty if unknown
 * @param state such as {@code up} or {@code down}; empty if unknown
 * @param megabitsPerSecond speed of its link; -1 if unknown, as while it is down
 */
public record NetInterface(String name, String mac, String state, long megabitsPerSecond) {

  private static final String CLASS = "/sys/class/net";

  private static NetInterface of(MachineFiles files, String folder, String name) {
    String at = folder + "/" + name;
    long speed = files.read(at + "/speed").number();
    String mac = files.read(at + "/address").text();
    String state = files.read(at + "/operstate").text();
    return new NetInterface(
        Reading.printable(name),
        mac.matches("[0-9a-f]{2}(:[0-9a-f]{2}){5,31}") ? mac : "",
        state.matches("[a-z]{1,20}") ? state : "",
        // Drivers report an unknown speed as the largest number.
        speed >= 0xffff_ffffL ? -1 : speed);
  }

  /** All interfaces of PCI functions, by the functions' addresses. */
  static Map<String, List<NetInterface>> byFunction(MachineFiles files, PciTree tree) {
    Map<String, List<NetInterface>> interfaces = new HashMap<>();
    for (String name : files.list(CLASS)) {
      tree.functionOf(CLASS + "/" + name)
          .ifPresent(
              function ->
                  interfaces
                      .computeIfAbsent(function.address(), _ -> new ArrayList<>())
                      .add(of(files, CLASS, name)));
    }
    return interfaces;
  }

  public boolean up() {
    return state.equals("up");
  }
}

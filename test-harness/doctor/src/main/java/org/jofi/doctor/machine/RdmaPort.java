package org.jofi.doctor.machine;

import java.util.List;

/**
 * A port of an RDMA NIC.
 *
 * @param number from 1 on
 * @param state such as {@code ACTIVE} or {@code DOWN}; empty if unknown
 * @param rate such as {@code 100 Gb/sec (4X EDR)}; empty if unknown
 * @param layer {@code InfiniBand} or {@code Ethernet}; empty if unknown
 */
public record RdmaPort(String number, String state, String rate, String layer) {

  static List<RdmaPort> below(MachineFiles files, String nic) {
    String folder = nic + "/ports";
    return files.list(folder).stream()
        .filter(number -> number.matches("[0-9]{1,3}"))
        .map(
            number -> {
              String port = folder + "/" + number;
              return new RdmaPort(
                  number,
                  line(files, port + "/state").replaceFirst("^[0-9]+: *", ""),
                  line(files, port + "/rate"),
                  line(files, port + "/link_layer"));
            })
        .toList();
  }

  private static String line(MachineFiles files, String path) {
    return Nic.shortLine(files.read(path));
  }

  public boolean up() {
    return state.equals("ACTIVE");
  }
}

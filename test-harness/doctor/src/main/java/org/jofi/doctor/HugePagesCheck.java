package org.jofi.doctor;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jofi.doctor.machine.MachineFiles;
import org.jofi.doctor.machine.Reading;

/** Checks whether huge pages are reserved; with them, a NIC needs fewer address translations. */
final class HugePagesCheck implements Check {
  private static final String NAME = "hugepages";
  private static final String MEMORY = "/proc/meminfo";
  private static final String TRANSPARENT = "/sys/kernel/mm/transparent_hugepage/enabled";
  private static final String RESERVE = "sudo sysctl -w vm.nr_hugepages=1024";

  @Override
  public List<Finding> examine(Patient patient) {
    MachineFiles files = patient.machine().files();
    Reading memory = files.read(MEMORY);
    List<String> read = List.of(MEMORY, TRANSPARENT);
    long total = value(memory, "HugePages_Total");
    long free = value(memory, "HugePages_Free");
    long kib = value(memory, "Hugepagesize");
    if (total < 0 || free < 0) {
      return List.of(
          Finding.warn(
              NAME,
              "",
              memory.ok() ? MEMORY + " tells of no huge pages" : memory.trouble(),
              read,
              "grep Huge " + MEMORY));
    }
    if (total == 0) {
      return List.of(
          Finding.warn(
              NAME,
              "",
              "none reserved: large registrations take one address translation per 4 KiB"
                  + transparent(files.read(TRANSPARENT)),
              read,
              RESERVE));
    }
    String size = kib > 0 ? " of " + ByteSize.text(kib << 10) : "";
    return List.of(
        free == 0
            ? Finding.warn(NAME, "", "all %d%s are in use".formatted(total, size), read, RESERVE)
            : Finding.pass(NAME, "", "%d of %d%s free".formatted(free, total, size), read));
  }

  private static String transparent(Reading enabled) {
    Matcher chosen = Pattern.compile("\\[([a-z]{1,10})]").matcher(enabled.text());
    return chosen.find() ? "; transparent ones: " + chosen.group(1) : "";
  }

  private static long value(Reading memory, String name) {
    Pattern line = Pattern.compile(name + ":\\s+([0-9]{1,15})(\\s+kB)?\\s*");
    return memory
        .text()
        .lines()
        .map(line::matcher)
        .filter(Matcher::matches)
        .mapToLong(match -> Long.parseLong(match.group(1)))
        .findFirst()
        .orElse(-1);
  }
}

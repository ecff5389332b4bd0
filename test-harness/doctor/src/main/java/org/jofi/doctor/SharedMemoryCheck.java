package org.jofi.doctor;

import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jofi.doctor.machine.Reading;

/** Checks whether /dev/shm is large enough for libfabric's shm provider. */
final class SharedMemoryCheck implements Check {
  private static final String NAME = "shm";
  private static final String MOUNTS = "/proc/self/mounts";

  /** The default size in containers. */
  private static final long SMALL_KIB = 64 << 10;

  private static final Pattern SIZE = Pattern.compile("(?:^|,)size=([0-9]{1,15})k(?:,|$)");

  @Override
  public List<Finding> examine(Patient patient) {
    Reading mounts = patient.machine().files().read(MOUNTS);
    List<String> read = List.of(MOUNTS);
    Optional<String[]> mount =
        mounts
            .text()
            .lines()
            .map(line -> line.split(" ", -1))
            .filter(words -> words.length >= 4 && words[1].equals("/dev/shm"))
            .reduce((_, last) -> last);
    if (mount.isEmpty()) {
      return List.of(
          Finding.warn(
              NAME,
              "",
              mounts.ok()
                  ? "nothing is mounted at /dev/shm: the shm provider cannot start"
                  : mounts.trouble(),
              read,
              "sudo mount -t tmpfs -o mode=1777 tmpfs /dev/shm"));
    }
    Matcher size = SIZE.matcher(mount.get()[3]);
    if (!size.find()) {
      return List.of(Finding.pass(NAME, "", "/dev/shm is mounted, up to half of memory", read));
    }
    long kib = Long.parseLong(size.group(1));
    String bytes = ByteSize.text(kib << 10);
    return List.of(
        kib > SMALL_KIB
            ? Finding.pass(NAME, "", "/dev/shm holds " + bytes, read)
            : Finding.warn(
                NAME,
                "",
                "/dev/shm holds only %s: a few ranks of the shm provider fill it".formatted(bytes),
                read,
                "sudo mount -o remount,size=8g /dev/shm; for a container: --shm-size=8g"));
  }
}

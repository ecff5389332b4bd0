package org.jofi.doctor.machine;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * NVIDIA's kernel driver, as it describes itself.
 *
 * @param version such as {@code 550.54.15}
 * @param open whether these are the open kernel modules
 */
public record NvidiaDriver(String version, boolean open) {
  /** The file that describes it. */
  public static final String FILE = "/proc/driver/nvidia/version";

  /** The first driver whose open modules export dma-buf. */
  private static final int DMA_BUF_SINCE = 515;

  private static final Pattern VERSION =
      Pattern.compile("NVRM version:.*?\\s([0-9]{2,4}(?:\\.[0-9]{1,4}){1,2})(?:\\s.*)?");

  static Optional<NvidiaDriver> of(MachineFiles files) {
    return files
        .read(FILE)
        .text()
        .lines()
        .map(VERSION::matcher)
        .filter(Matcher::matches)
        .map(line -> new NvidiaDriver(line.group(1), line.group().contains("Open Kernel Module")))
        .findFirst();
  }

  /** Whether its modules can export GPU memory as dma-buf on a kernel that accepts it. */
  public boolean exportsDmaBuf() {
    return open && branch() >= DMA_BUF_SINCE;
  }

  private int branch() {
    return Integer.parseInt(version.substring(0, version.indexOf('.')));
  }

  @Override
  public String toString() {
    return version + (open ? ", open modules" : ", proprietary modules");
  }
}

package org.jofi.cli.ranks;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The kernel's out-of-memory killer, which ends processes with SIGKILL when the machine or a
 * control group (a container, a batch job) has no memory left.
 */
final class MemoryKiller {
  private static final Pattern KILLS =
      Pattern.compile("^oom_kill ([0-9]{1,18})$", Pattern.MULTILINE);

  private final Path counters;
  private final long before;

  /** Counts from now on. */
  MemoryKiller() {
    this(Path.of("/proc/vmstat"));
  }

  MemoryKiller(Path counters) {
    this.counters = counters;
    before = kills();
  }

  /** What to add to the news that a process was killed; empty if it killed nobody since. */
  String words() {
    long since = kills() - before;
    return since <= 0
        ? ""
        : ": the kernel ended %d process(es) meanwhile for want of memory, of this machine or of its container or job; see dmesg"
            .formatted(since);
  }

  /** Of the whole machine, since it was started; 0 where the kernel does not say. */
  private long kills() {
    try {
      Matcher line = KILLS.matcher(Files.readString(counters, StandardCharsets.US_ASCII));
      return line.find() ? Long.parseLong(line.group(1)) : 0;
    } catch (IOException e) {
      return 0;
    }
  }
}

package org.jofi.cli.soak;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jofi.transport.CacheStatistics;
import org.jofi.transport.Device;

/**
 * What of a process must not grow.
 *
 * @param heapBytes the Java heap that is used after a collection
 * @param residentBytes VmRSS
 * @param files open descriptors that are no sockets
 * @param sockets open descriptors that are sockets
 * @param threads threads that do not belong to the JVM itself
 * @param pinnedBytes VmPin and VmLck
 * @param registrations what the device's cache holds
 * @param registeredBytes memory in them
 */
record Vitals(
    long heapBytes,
    long residentBytes,
    int files,
    int sockets,
    int threads,
    long pinnedBytes,
    long registrations,
    long registeredBytes) {
  private static final Path SELF = Path.of("/proc/self");
  private static final int MOST_LOOKS = 25;
  private static final long LOOK_MILLIS = 200;

  /**
   * Threads that the JVM starts and ends as it likes: compilers, collectors, and those that carry
   * virtual threads. Native threads of a provider are named after the thread that started them.
   */
  private static final Pattern OF_THE_JVM =
      Pattern.compile(
          "(C1 Comp|C2 Comp|GC Thread|G1 |ZGC|ZWorker|ZDriver|VM |ForkJoinPool-|VirtualThread|Unparker|Read-Poller|Write-Poller|MasterPoller|Attach Lis|Signal Dis|process reap)"
              + ".*",
          Pattern.DOTALL);

  /** Looks until two looks agree, since sockets of a generation close in the background. */
  static Vitals settled(Device device) {
    Vitals last = look(device);
    for (int looks = 0; looks < MOST_LOOKS; looks++) {
      sleep();
      Vitals next = look(device);
      if (next.sameCounts(last)) {
        return next;
      }
      last = next;
    }
    return last;
  }

  private boolean sameCounts(Vitals other) {
    return files == other.files
        && sockets == other.sockets
        && threads == other.threads
        && registrations == other.registrations;
  }

  private static void sleep() {
    try {
      TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static Vitals look(Device device) {
    System.gc();
    Runtime runtime = Runtime.getRuntime();
    try {
      String status = Files.readString(SELF.resolve("status"), StandardCharsets.UTF_8);
      int sockets = 0;
      int files = 0;
      for (String target : descriptors()) {
        if (target.startsWith("socket:")) {
          sockets++;
        } else {
          files++;
        }
      }
      CacheStatistics cache = device.cacheStatistics();
      return new Vitals(
          runtime.totalMemory() - runtime.freeMemory(),
          kibibytes(status, "VmRSS") * 1024,
          files,
          sockets,
          countThreads(),
          (kibibytes(status, "VmPin") + kibibytes(status, "VmLck")) * 1024,
          cache.registrations(),
          cache.pinnedBytes());
    } catch (IOException e) {
      throw new IllegalStateException("cannot read " + SELF + ": " + e.getMessage(), e);
    }
  }

  /** The TCP sockets of this process, a line each. */
  static List<String> tcpSockets() {
    try {
      return TcpSockets.of(Set.copyOf(descriptors()));
    } catch (IOException e) {
      return List.of("TCP sockets cannot be listed: " + e.getMessage());
    }
  }

  private static List<String> descriptors() throws IOException {
    List<String> targets = new ArrayList<>();
    try (DirectoryStream<Path> all = Files.newDirectoryStream(SELF.resolve("fd"))) {
      for (Path each : all) {
        targets.add(target(each));
      }
    }
    return targets;
  }

  private static String target(Path descriptor) throws IOException {
    try {
      return Files.readSymbolicLink(descriptor).toString();
    } catch (NoSuchFileException e) {
      return "closed since it was listed";
    }
  }

  private static int countThreads() throws IOException {
    int count = 0;
    try (DirectoryStream<Path> all = Files.newDirectoryStream(SELF.resolve("task"))) {
      for (Path each : all) {
        count += OF_THE_JVM.matcher(name(each)).matches() ? 0 : 1;
      }
    }
    return count;
  }

  private static String name(Path thread) {
    try {
      return Files.readString(thread.resolve("comm"), StandardCharsets.UTF_8).strip();
    } catch (IOException e) {
      return "ended since it was listed";
    }
  }

  private static long kibibytes(String status, String name) {
    Matcher line = Pattern.compile(name + ":\\s+([0-9]+) kB").matcher(status);
    return line.find() ? Long.parseLong(line.group(1)) : 0;
  }
}

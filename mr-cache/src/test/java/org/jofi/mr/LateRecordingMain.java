package org.jofi.mr;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordingFile;
import org.jofi.fabric.Access;
import org.jofi.mr.recording.Device;
import org.jofi.mr.recording.RecordingFabric.Profile;
import org.jofi.mr.registration.BufferRange;

/**
 * Registers memory before anybody records, and again while a recording runs: run by {@link
 * StatisticsTest}. It prints which of JFR's classes were loaded before, and which events came
 * after.
 */
final class LateRecordingMain {
  /** Where the JVM logs which classes it loads. */
  static final String LOADED = "loaded";

  private static final Pattern JFR = Pattern.compile("jdk\\.jfr\\.\\S+");

  private LateRecordingMain() {}

  /**
   * Exits with 0 unless something fails.
   *
   * @param arguments a folder with that log, for the recording
   */
  public static void main(String[] arguments) throws IOException {
    Path folder = Path.of(arguments[0]);
    registerAndClose();
    System.out.println("before: " + loadedOfJfr(folder.resolve(LOADED)));
    record(folder.resolve("events.jfr"));
  }

  private static void registerAndClose() {
    BufferRange buffer = BufferRange.host(0x10_0000, 8192).ofAllocation(1);
    try (Device device = new Device(Profile.CXI, 2, 1)) {
      device.rails.registrations.acquire(buffer, Access.ALL).release();
      device.registrations.evictIdle();
    }
  }

  private static Set<String> loadedOfJfr(Path log) throws IOException {
    return JFR.matcher(Files.readString(log))
        .results()
        .map(MatchResult::group)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** In a method of its own: the rest of this class is to need nothing of JFR. */
  private static void record(Path file) throws IOException {
    try (Recording recording = new Recording()) {
      recording.enable("org.jofi.mr.Registration").withoutThreshold();
      recording.enable("org.jofi.mr.RegistrationClosed").withoutThreshold();
      recording.start();
      registerAndClose();
      recording.stop();
      recording.dump(file);
    }
    Set<String> events = new TreeSet<>();
    RecordingFile.readAllEvents(file).forEach(event -> events.add(event.getEventType().getName()));
    System.out.println("recorded: " + events);
  }
}

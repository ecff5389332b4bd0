package org.jofi.mr;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.jofi.fabric.Access;
import org.jofi.mr.recording.Device;
import org.jofi.mr.recording.MultiRail;
import org.jofi.mr.recording.RecordingFabric;
import org.jofi.mr.recording.RecordingFabric.Profile;
import org.jofi.mr.recording.SteppingClock;
import org.jofi.mr.registration.BufferRange;
import org.jofi.mr.registration.CacheCounters;
import org.jofi.mr.registration.CacheLimits;
import org.jofi.mr.registration.RequestNames;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the cache tells about itself: counters and JFR events. */
class StatisticsTest {
  private static final BufferRange BUFFER = BufferRange.host(0x10_0000, 8192).ofAllocation(1);

  @Test
  void countersTellWhatTheCacheDid() {
    RecordingFabric fabric = new RecordingFabric(Profile.EFA, 2);
    DeviceRegistrations device =
        new DeviceRegistrations(
            List.copyOf(fabric.domains),
            CacheLimits.DEFAULT,
            new SteppingClock(),
            RequestNames.NONE,
            new SplittableRandom(1)::nextLong);
    MultiRail rails = new MultiRail("endpoint", fabric, device, 2, 1);
    rails.registrations.acquire(BUFFER, Access.ALL).release();
    rails.registrations.acquire(BUFFER, Access.ALL).release();
    assertEquals(
        new CacheCounters.Snapshot(1, 1, 0, 0, 0, 1, 8192, SteppingClock.STEP_NS),
        device.statistics());
    assertEquals(1, device.evictIdle());
    assertEquals(
        new CacheCounters.Snapshot(1, 1, 1, 1, 0, 0, 0, SteppingClock.STEP_NS),
        device.statistics());
    rails.teardown.close();
    device.close();
  }

  /** In a process of its own, in which nobody has recorded yet. */
  @Test
  void nothingOfJfrIsLoadedUntilSomebodyRecords(@TempDir Path folder) throws Exception {
    Path said = folder.resolve("said");
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin/java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-Xlog:class+load:file=" + folder.resolve(LateRecordingMain.LOADED),
                "-cp",
                System.getProperty("java.class.path"),
                LateRecordingMain.class.getName(),
                folder.toString())
            .redirectErrorStream(true)
            .redirectOutput(said.toFile())
            .start();
    if (!process.waitFor(60, TimeUnit.SECONDS)) {
      process.destroyForcibly();
    }
    String text = Files.readString(said);
    assertEquals(0, process.waitFor(), text);
    assertEquals(
        """
        before: [jdk.jfr.FlightRecorder]
        recorded: [org.jofi.mr.Registration, org.jofi.mr.RegistrationClosed]
        """,
        text);
  }

  @Test
  void eventsTellWhatWasRegisteredAndWhyItWasClosed(@TempDir Path folder) throws IOException {
    Path file = folder.resolve("events.jfr");
    try (Recording recording = new Recording()) {
      recording.enable("org.jofi.mr.Registration").withoutThreshold();
      recording.enable("org.jofi.mr.RegistrationClosed").withoutThreshold();
      recording.start();
      try (Device device = new Device(Profile.CXI, 2, 1)) {
        device.rails.registrations.acquire(BUFFER, Access.ALL).release();
        device.rails.registrations.registerControl(BUFFER, Access.REMOTE_WRITE);
        device.registrations.evictIdle();
      }
      recording.stop();
      recording.dump(file);
    }
    List<RecordedEvent> events = RecordingFile.readAllEvents(file);
    assertTrue(
        events.stream()
            .anyMatch(
                event ->
                    event.getEventType().getName().equals("org.jofi.mr.Registration")
                        && event.getString("role").equals("data buffer")
                        && event.getLong("lengthBytes") == 8192
                        && event.getInt("rails") == 2));
    assertTrue(
        events.stream()
            .anyMatch(
                event ->
                    event.getEventType().getName().equals("org.jofi.mr.Registration")
                        && event.getString("role").equals("control mailbox")
                        && event.getInt("rails") == 1));
    assertTrue(
        events.stream()
            .anyMatch(
                event ->
                    event.getEventType().getName().equals("org.jofi.mr.RegistrationClosed")
                        && event.getString("reason").equals("EVICTED")
                        && event.getLong("address") == BUFFER.address()));
  }
}

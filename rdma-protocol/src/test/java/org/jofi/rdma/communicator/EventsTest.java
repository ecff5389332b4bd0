package org.jofi.rdma.communicator;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.toList;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Events of a process that nobody recorded from its start on, and that somebody records with {@code
 * jcmd} then, as operators do.
 */
class EventsTest {
  private static final Path BIN = Path.of(System.getProperty("java.home"), "bin");

  @Test
  void aRecordingThatIsStartedLaterHasThemAndNothingIsLoadedBefore(@TempDir Path folder)
      throws Exception {
    Path records = folder.resolve("events.jfr");
    Process process =
        new ProcessBuilder(
                BIN.resolve("java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-Xlog:class+load:file=" + folder.resolve(LateEventsMain.LOADED),
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                LateEventsMain.class.getName(),
                folder.toString())
            .redirectError(folder.resolve("errors").toFile())
            .start();
    try {
      BufferedReader said =
          new BufferedReader(
              new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
      assertEquals("before: [jdk.jfr.FlightRecorder]", said.readLine());
      assertEquals(LateEventsMain.READY, said.readLine());
      record(process, records);
      process.getOutputStream().write('\n');
      process.getOutputStream().close();
      assertTrue(process.waitFor(2, TimeUnit.MINUTES), "it does not end");
    } finally {
      process.destroyForcibly();
    }
    assertEquals(0, process.exitValue(), Files.readString(folder.resolve("errors")));
    check(
        RecordingFile.readAllEvents(records).stream()
            .filter(event -> event.getEventType().getName().startsWith("org.jofi."))
            .collect(groupingBy(event -> event.getEventType().getName(), TreeMap::new, toList())));
  }

  private static void record(Process of, Path into) throws IOException, InterruptedException {
    Process jcmd =
        new ProcessBuilder(
                BIN.resolve("jcmd").toString(),
                Long.toString(of.pid()),
                "JFR.start",
                "filename=" + into,
                "dumponexit=true",
                "+org.jofi.SlowRequest#enabled=true",
                "+org.jofi.mr.Registration#threshold=0ms",
                "+org.jofi.mr.RegistrationClosed#threshold=0ms")
            .redirectErrorStream(true)
            .start();
    String said = new String(jcmd.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, jcmd.waitFor(), said);
  }

  private static void check(Map<String, List<RecordedEvent>> events) {
    assertEquals(
        List.of(
            "org.jofi.CommunicatorFailed",
            "org.jofi.Connection",
            "org.jofi.RailGivenUp",
            "org.jofi.RequestFailed",
            "org.jofi.SlowRequest",
            "org.jofi.Stall",
            "org.jofi.StripeRepeated",
            "org.jofi.mr.Registration",
            "org.jofi.mr.RegistrationClosed",
            "org.jofi.rdma.RailChange"),
        List.copyOf(events.keySet()),
        events::toString);
    List<String> outcomes =
        events.get("org.jofi.Connection").stream()
            .map(event -> event.getString("role") + " " + event.getString("outcome"))
            .sorted()
            .toList();
    assertEquals(List.of("accept accepted", "connect connected"), outcomes);

    RecordedEvent failed = events.get("org.jofi.CommunicatorFailed").getFirst();
    assertEquals("PEER_ABORTED", failed.getString("cause"));
    assertEquals(1, failed.getInt("inFlight"));
    RecordedEvent request = events.get("org.jofi.RequestFailed").getFirst();
    assertEquals(1, events.get("org.jofi.RequestFailed").size());
    assertEquals("send", request.getString("kind"));
    assertEquals(3, request.getInt("tag"));
    assertEquals(1 << 20, request.getLong("bytes"));
    assertEquals("PEER_ABORTED", request.getString("cause"));

    RecordedEvent stall =
        events.get("org.jofi.Stall").stream()
            .filter(event -> event.getString("what").equals("request"))
            .findFirst()
            .orElseThrow();
    assertTrue(stall.getString("who").startsWith("receive communicator "), stall::toString);
    assertTrue(stall.getDuration().toMillis() >= 200, stall::toString);
    RecordedEvent slow =
        events.get("org.jofi.SlowRequest").stream()
            .filter(event -> event.getLong("bytes") == 8)
            .findFirst()
            .orElseThrow();
    assertEquals("receive", slow.getString("kind"));
    assertTrue(slow.getDuration().toMillis() >= 200, slow::toString);

    RecordedEvent repeated = events.get("org.jofi.StripeRepeated").getFirst();
    assertTrue(repeated.getString("from").contains("rail 1"), repeated::toString);
    RecordedEvent given = events.get("org.jofi.RailGivenUp").getFirst();
    assertEquals(1, given.getInt("rail"));
  }
}

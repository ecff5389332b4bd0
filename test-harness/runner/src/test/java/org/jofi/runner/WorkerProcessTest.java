package org.jofi.runner;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A worker in a process of its own, and what its runner hears of it. */
@Timeout(180)
class WorkerProcessTest {
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  @TempDir private Path folder;
  private final List<Events.Event> heard = new ArrayList<>();

  private Path log() {
    return folder.resolve("log");
  }

  private WorkerProcess start(String java, Duration silence) throws IOException {
    Pass pass = Passes.on(Path.of(java), folder);
    return new WorkerProcess(pass, log(), System.getProperty("java.class.path"), silence);
  }

  private WorkerProcess start(Duration silence) throws IOException {
    return start(Path.of(System.getProperty("java.home"), "bin/java").toString(), silence);
  }

  private WorkerProcess.End run(
      WorkerProcess worker, Class<?> type, String method, List<String> included)
      throws IOException {
    heard.clear();
    return worker.run(
        new Worker.Order(type.getName(), method, included, List.of("long")), heard::add);
  }

  private List<String> ends() {
    return heard.stream()
        .filter(event -> event.kind() != Events.Kind.STARTED && event.kind() != Events.Kind.DONE)
        .map(
            event ->
                event.kind()
                    + " "
                    + event.test().replaceFirst(".*Sample\\$", "")
                    + event.text().lines().findFirst().map(line -> ": " + line).orElse(""))
        .sorted()
        .toList();
  }

  @Test
  void tellsEveryEndOfEachTestAndWhatTheClassTook() throws Exception {
    try (WorkerProcess worker = start(PATIENCE)) {
      assertEquals(WorkerProcess.End.DONE, run(worker, Sample.Ends.class, "", List.of()));
      assertEquals(
          List.of(
              "FAILED Ends#each [2] text=b:"
                  + " org.opentest4j.AssertionFailedError: expected: <a> but was: <b>",
              "FAILED Ends#fails: org.opentest4j.AssertionFailedError: one is two"
                  + " ==> expected: <1> but was: <2>",
              "PASSED Ends#each [1] text=a",
              "PASSED Ends#passes",
              "PASSED Ends#runsAlone",
              "SKIPPED Ends#aborts: no GPU",
              "SKIPPED Ends#skipped: not here"),
          ends());
      assertEquals(Events.Kind.DONE, heard.getLast().kind());
      assertTrue(heard.getLast().nanos() > 0, heard::toString);
      assertEquals(
          WorkerProcess.End.DONE, run(worker, Sample.Ends.class, "", List.of(TestClass.ALONE)));
      assertEquals(List.of("PASSED Ends#runsAlone"), ends());
      run(worker, Sample.Ends.class, "each", List.of());
      assertEquals(2, ends().size(), ends()::toString);
      run(worker, Sample.Unready.class, "", List.of());
      assertEquals(List.of("FAILED Unready: java.lang.IllegalStateException: not ready"), ends());
    }
  }

  @Test
  void aCrashIsTold() throws Exception {
    try (WorkerProcess worker = start(PATIENCE)) {
      assertEquals(WorkerProcess.End.CRASHED, run(worker, Sample.Crash.class, "", List.of()));
      assertEquals("exit code 7", worker.exit());
      assertEquals(Events.Kind.STARTED, heard.getLast().kind());
    }
  }

  @Test
  void oneThatIsSilentForTooLongIsEndedAndSaysWhereItsThreadsAre() throws Exception {
    try (WorkerProcess worker = start(PATIENCE)) {
      worker.bound(Duration.ofSeconds(8));
      assertEquals(WorkerProcess.End.HUNG, run(worker, Sample.Hang.class, "", List.of()));
      assertTrue(Files.readString(log()).contains("Sample$Hang.hangs"), Files.readString(log()));
    }
  }

  @Test
  void aJvmThatDoesNotStartIsTold() {
    IOException failure =
        assertThrows(IOException.class, () -> start("/bin/false", PATIENCE).close());
    assertTrue(String.valueOf(failure.getMessage()).contains("did not start"), failure::getMessage);
  }
}

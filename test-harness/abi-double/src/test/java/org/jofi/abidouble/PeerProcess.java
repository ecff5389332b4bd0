package org.jofi.abidouble;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A {@link Peer} that was started. */
final class PeerProcess implements AutoCloseable {
  private static final long BOUND_SECONDS = 120;

  private final PeerSettings settings;
  private final Path errors;
  private final Process process;
  private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();
  private final Thread reader;

  private PeerProcess(PeerSettings settings, Path errors, Process process) {
    this.settings = settings;
    this.errors = errors;
    this.process = process;
    reader =
        Thread.ofVirtual()
            .start(() -> process.inputReader(StandardCharsets.UTF_8).lines().forEach(lines::add));
  }

  static PeerProcess start(PeerSettings settings, Path folder) throws IOException {
    List<String> command = new ArrayList<>();
    String java = System.getProperty("jofi.test.java", "");
    command.add(
        java.isEmpty() ? Path.of(System.getProperty("java.home"), "bin", "java").toString() : java);
    command.add("--enable-native-access=ALL-UNNAMED");
    command.add("--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED");
    command.add("-XX:ErrorFile=" + folder.resolve("crash-%p.log"));
    command.add("-Djofi.libfabric=" + System.getProperty("jofi.libfabric", ""));
    command.add("-cp");
    command.add(
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")));
    command.add(Peer.class.getName());
    command.addAll(settings.arguments());
    Path errors = folder.resolve("errors-" + settings.index());
    return new PeerProcess(
        settings, errors, new ProcessBuilder(command).redirectError(errors.toFile()).start());
  }

  /** Its handle, which it writes first. */
  String handle() throws InterruptedException {
    String line = lines.poll(BOUND_SECONDS, TimeUnit.SECONDS);
    assertTrue(line != null && line.startsWith("handle "), () -> this + ": " + line);
    return line.substring("handle ".length());
  }

  /** Tells it the other's handle. */
  void tell(String handle) throws IOException {
    process.outputWriter(StandardCharsets.UTF_8).append(handle).append('\n').flush();
  }

  /** It ends, and well; how often it called what. */
  String clean() throws InterruptedException {
    assertTrue(process.waitFor(BOUND_SECONDS, TimeUnit.SECONDS), () -> this + " did not end");
    reader.join();
    assertEquals(0, process.exitValue(), this::toString);
    String calls = lines.poll();
    assertEquals("clean", lines.poll(), this::toString);
    return calls;
  }

  /** It ended by itself, without a word. */
  void died() throws InterruptedException {
    assertTrue(process.waitFor(BOUND_SECONDS, TimeUnit.SECONDS), () -> this + " did not end");
    assertEquals(Exchange.DEATH, process.exitValue(), this::toString);
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }

  @Override
  public String toString() {
    try {
      return "%s, process %d:%n%s%n%s"
          .formatted(
              settings, settings.index(), String.join("\n", lines), Files.readString(errors));
    } catch (IOException e) {
      return settings + ": " + e;
    }
  }
}

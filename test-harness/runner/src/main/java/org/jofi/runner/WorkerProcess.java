package org.jofi.runner;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.File;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A worker's JVM, as the runner sees it. One thread uses it. */
final class WorkerProcess implements AutoCloseable {
  /** How a class ended. */
  enum End {
    DONE,
    CRASHED,
    HUNG
  }

  /**
   * How long a test may take without a word; its own time-out, of five minutes at most, is less.
   */
  static final Duration SILENCE = Duration.ofMinutes(10);

  private static final long DUMP_SECONDS = 5;
  private static final long EXIT_SECONDS = 20;

  private static final ScheduledExecutorService BOUNDS =
      Executors.newSingleThreadScheduledExecutor(
          task -> Thread.ofPlatform().daemon().name("bounds").unstarted(task));

  private final Path socket;
  private final ServerSocketChannel server;
  private final Process process;
  private final SocketChannel channel;
  private final DataInputStream in;
  private final DataOutputStream out;
  private Duration silence;
  private volatile boolean hung;

  /**
   * Starts one.
   *
   * @param log where it prints
   * @param classes the runner's own classes, and what they need
   * @param silence how long it may be without a word
   * @throws IOException if it does not start
   */
  WorkerProcess(Pass pass, Path log, String classes, Duration silence) throws IOException {
    this.silence = silence;
    socket = Files.createTempDirectory("jofi-worker").resolve("socket");
    server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    server.bind(UnixDomainSocketAddress.of(socket));
    process = start(pass, log, classes);
    channel = accept();
    in = new DataInputStream(Channels.newInputStream(channel));
    out = new DataOutputStream(Channels.newOutputStream(channel));
  }

  private Process start(Pass pass, Path log, String classes) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(pass.java().toString());
    command.addAll(pass.jvmOptions());
    command.add("-cp");
    command.add(
        Stream.concat(
                Stream.concat(pass.jars().stream(), Stream.of(pass.tests())).map(Path::toString),
                Stream.of(classes))
            .collect(Collectors.joining(File.pathSeparator)));
    command.add(Worker.class.getName());
    command.add(socket.toString());
    command.addAll(pass.parameters());
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(pass.folder().toFile())
            .redirectInput(ProcessBuilder.Redirect.from(new File("/dev/null")))
            .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
            .redirectErrorStream(true);
    // Where page faults are dear, as on virtual machines without nested page tables (12 us each
    // there), those of libfabric's pools and of the tests' buffers are a fifth of a run.
    builder.environment().putIfAbsent("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1");
    return builder.start();
  }

  /** A process that ends before it connects ends the wait, too. */
  private SocketChannel accept() throws IOException {
    var _ = process.onExit().thenRun(this::stopWaiting);
    ScheduledFuture<?> bound = bound();
    try {
      return server.accept();
    } catch (IOException closed) {
      throw new IOException("a worker did not start" + (hung ? " in time" : ""), closed);
    } finally {
      bound.cancel(false);
    }
  }

  private void stopWaiting() {
    try {
      server.close();
    } catch (IOException ignored) {
      // It was only to be woken.
    }
  }

  /**
   * Runs a class.
   *
   * @param heard is told every event, the last one, with the processor time, included
   */
  End run(Worker.Order order, Consumer<Events.Event> heard) throws IOException {
    try {
      order.write(out);
      while (true) {
        ScheduledFuture<?> bound = bound();
        Events.Event event;
        try {
          event = Events.Event.read(in);
        } finally {
          bound.cancel(false);
        }
        heard.accept(event);
        if (event.kind() == Events.Kind.DONE) {
          return End.DONE;
        }
      }
    } catch (EOFException | java.net.SocketException gone) {
      return hung ? End.HUNG : End.CRASHED;
    }
  }

  /** What it ended with, in words. */
  String exit() throws InterruptedException {
    return process.waitFor(EXIT_SECONDS, TimeUnit.SECONDS)
        ? "exit code " + process.exitValue()
        : "no exit";
  }

  private ScheduledFuture<?> bound() {
    return BOUNDS.schedule(this::endHung, silence.toMillis(), TimeUnit.MILLISECONDS);
  }

  /** From now on it may be without a word for so long. */
  void bound(Duration longest) {
    silence = longest;
  }

  /** The threads of its JVM, and of those that it started, go into the log. */
  private void endHung() {
    hung = true;
    try {
      List<String> command = new ArrayList<>(List.of("kill", "-QUIT"));
      Stream.concat(Stream.of(process.toHandle()), process.descendants())
          .filter(one -> one.info().command().orElse("").endsWith("/java"))
          .forEach(one -> command.add(Long.toString(one.pid())));
      new ProcessBuilder(command).start();
      process.waitFor(DUMP_SECONDS, TimeUnit.SECONDS);
    } catch (IOException | InterruptedException undumped) {
      // It ends without them.
    }
    kill();
  }

  /** Ends it, and what it started. */
  void kill() {
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
  }

  @Override
  public void close() throws IOException {
    channel.close();
    server.close();
    try {
      if (!process.waitFor(EXIT_SECONDS, TimeUnit.SECONDS)) {
        kill();
      }
    } catch (InterruptedException e) {
      kill();
      Thread.currentThread().interrupt();
    }
    Files.deleteIfExists(socket);
    Files.deleteIfExists(socket.getParent());
  }
}

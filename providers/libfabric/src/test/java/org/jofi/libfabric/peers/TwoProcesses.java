package org.jofi.libfabric.peers;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jofi.efadouble.EfaDouble;

/**
 * Two processes that run one scenario after the other: a JVM takes longer to start than most of
 * them take. Relays lines between the two, and bounds each scenario.
 */
final class TwoProcesses implements AutoCloseable {
  /** What one of them prints to ask for the other's death. */
  static final String KILL_OTHER = "@kill-other";

  /** Begins the line by which one of them says how its part of a scenario ended. */
  static final String ENDED = "@ended ";

  private static final long BOUND_SECONDS = 120;
  private static final long MOST_MILLIS_AFTER_DEATH = 10_000;

  /** If operations never end, and the close of their endpoint is bounded as well. */
  private static final long MOST_MILLIS_WITH_LACK = 20_000;

  private static final long DUMP_SECONDS = 2;
  private static final int KILLED = 128 + 9;

  private final String provider;

  /** The devices of a provider that needs some; null for the others. */
  private final EfaDouble efa;

  private final StringBuilder log = new StringBuilder();

  /** Held so that both know of a scenario before either hears what the other says in it. */
  private final Object relaying = new Object();

  private final Child first;
  private final Child second;
  private volatile long killedAt;
  private boolean spent;

  TwoProcesses(String provider) throws IOException {
    this.provider = provider;
    efa = provider.startsWith("efa") ? EfaDouble.devices(1) : null;
    first = new Child("first");
    second = new Child("second");
    first.relayTo(second);
    second.relayTo(first);
  }

  /** Whether something went wrong in them or one was killed: then they run no other scenario. */
  boolean isSpent() {
    return spent;
  }

  /** What they printed in the scenario that ran last. */
  String log() {
    synchronized (log) {
      return log.toString();
    }
  }

  /**
   * Runs a scenario.
   *
   * @return what the provider lacks, if it lacks what the scenario needs
   * @throws AssertionError if one of them fails, ends otherwise than it should, or is late
   */
  Optional<String> run(Scenario scenario) throws InterruptedException {
    synchronized (log) {
      log.setLength(0);
    }
    spent = true;
    CompletableFuture<String> firstEnd;
    CompletableFuture<String> secondEnd;
    synchronized (relaying) {
      firstEnd = first.begin(scenario);
      secondEnd = second.begin(scenario);
    }
    String firstWord = await(firstEnd, first);
    boolean killed = killedAt != 0;
    if (killed) {
      long tookMillis = (System.nanoTime() - killedAt) / 1_000_000;
      note("test", "the first ended %d ms after the second was killed".formatted(tookMillis));
      boolean lacks = PeerMain.lack(firstWord).isPresent();
      if (tookMillis > (lacks ? MOST_MILLIS_WITH_LACK : MOST_MILLIS_AFTER_DEATH)) {
        throw new AssertionError("too late:\n" + log());
      }
    } else if (!firstWord.equals(PeerMain.OK)) {
      second.process.destroyForcibly();
      killed = true;
    }
    String secondWord = await(secondEnd, second);
    boolean secondWasKilled = killed && secondWord.equals(Child.exited(KILLED));
    // A lack of one side excuses the other's failing to meet it, and no crash.
    Optional<String> lack = PeerMain.lack(firstWord).or(() -> PeerMain.lack(secondWord));
    if (lack.isPresent()
        && (firstWord.equals(PeerMain.OK) || PeerMain.lack(firstWord).isPresent())
        && (secondWord.equals(PeerMain.OK)
            || PeerMain.lack(secondWord).isPresent()
            || secondWasKilled)) {
      return lack;
    }
    if (!firstWord.equals(PeerMain.OK)
        || !(killedAt != 0 ? secondWasKilled : secondWord.equals(PeerMain.OK))) {
      throw new AssertionError(
          "%s over %s: the first %s, the second %s:\n%s"
              .formatted(scenario, provider, firstWord, secondWord, log()));
    }
    spent = killed;
    return Optional.empty();
  }

  private String await(CompletableFuture<String> end, Child child) throws InterruptedException {
    try {
      return end.get(BOUND_SECONDS, TimeUnit.SECONDS);
    } catch (TimeoutException hangs) {
      child.dumpThreads();
      throw new AssertionError("the %s process hangs:\n%s".formatted(child.name, log()), hangs);
    } catch (ExecutionException impossible) {
      throw new AssertionError(impossible);
    }
  }

  /**
   * Ends both.
   *
   * @throws AssertionError if one of them broke a rule of the devices
   */
  @Override
  public void close() {
    first.process.destroyForcibly().onExit().orTimeout(10, TimeUnit.SECONDS).join();
    second.process.destroyForcibly().onExit().orTimeout(10, TimeUnit.SECONDS).join();
    if (efa != null) {
      try (efa) {
        efa.demandNoViolations();
      }
    }
  }

  private void note(String name, String line) {
    synchronized (log) {
      log.append(name).append(": ").append(line).append('\n');
    }
  }

  static String java() {
    String java = System.getProperty("jofi.test.java", "");
    return java.isEmpty()
        ? Path.of(System.getProperty("java.home"), "bin", "java").toString()
        : java;
  }

  /** One of the two. */
  private final class Child {
    private final String name;
    private final Process process;
    private final PrintStream in;
    private volatile CompletableFuture<String> end = new CompletableFuture<>();

    Child(String name) throws IOException {
      this.name = name;
      List<String> command = new ArrayList<>();
      command.add(java());
      command.add("--enable-native-access=ALL-UNNAMED");
      command.add("-XX:+UseSerialGC");
      command.add("-XX:+UseTransparentHugePages");
      command.add("-Xmx256m");
      command.add("-XX:TieredStopAtLevel=1");
      String library = System.getProperty("jofi.libfabric", "");
      if (!library.isEmpty()) {
        command.add("-Djofi.libfabric=" + library);
      }
      command.addAll(List.of("-cp", System.getProperty("java.class.path")));
      command.addAll(List.of(PeerMain.class.getName(), provider, name));
      ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
      if (efa != null) {
        efa.on(builder);
      }
      process = builder.start();
      in = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
    }

    static String exited(int code) {
      return "exited with " + code;
    }

    /** Tells it to run its part; how that ended, once it did. */
    CompletableFuture<String> begin(Scenario scenario) {
      CompletableFuture<String> fresh = new CompletableFuture<>();
      end = fresh;
      in.println(PeerMain.RUN + scenario.name());
      if (!process.isAlive()) {
        fresh.complete(exited(process.exitValue()));
      }
      return fresh;
    }

    /** Has it print where its threads are. */
    void dumpThreads() throws InterruptedException {
      try {
        new ProcessBuilder("kill", "-QUIT", Long.toString(process.pid())).start().waitFor();
        process.waitFor(DUMP_SECONDS, TimeUnit.SECONDS);
      } catch (IOException e) {
        note(name, "no dump: " + e.getMessage());
      }
    }

    void relayTo(Child other) {
      Thread.ofPlatform()
          .daemon()
          .name("relay-" + name)
          .start(
              () -> {
                try (BufferedReader out = process.inputReader(StandardCharsets.UTF_8)) {
                  String line;
                  while ((line = out.readLine()) != null) {
                    handle(line, other);
                  }
                } catch (IOException gone) {
                  note(name, "gone: " + gone.getMessage());
                }
                end.complete(exited(process.onExit().join().exitValue()));
              });
    }

    private void handle(String line, Child other) {
      if (line.startsWith(Lines.MARK)) {
        synchronized (relaying) {
          other.in.println(line.substring(Lines.MARK.length()));
        }
      } else if (line.startsWith(ENDED)) {
        end.complete(line.substring(ENDED.length()));
      } else {
        note(name, line);
        if (line.equals(KILL_OTHER)) {
          killedAt = System.nanoTime();
          other.process.destroyForcibly();
        }
      }
    }
  }
}

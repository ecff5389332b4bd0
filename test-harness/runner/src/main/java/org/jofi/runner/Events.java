package org.jofi.runner;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestSource;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;

/** Sends what becomes of tests to the runner. Tests may end in several threads at once. */
final class Events implements TestExecutionListener {
  /** What an event tells. */
  enum Kind {
    STARTED,
    PASSED,
    FAILED,
    SKIPPED,
    DONE
  }

  /**
   * An event.
   *
   * @param test the class, a number sign, the method, and what tells its invocations apart
   * @param nanos how long the test took; of DONE, the processor time of the class
   * @param text why it failed or was skipped
   */
  record Event(Kind kind, String test, long nanos, String text) {
    static Event read(DataInputStream in) throws IOException {
      return new Event(Kind.valueOf(in.readUTF()), in.readUTF(), in.readLong(), in.readUTF());
    }
  }

  /** What fits into writeUTF whatever the characters are. */
  private static final int MOST_CHARACTERS = 20_000;

  private final DataOutputStream out;
  private final Map<String, Long> started = new ConcurrentHashMap<>();
  private volatile @Nullable TestPlan plan;

  Events(DataOutputStream out) {
    this.out = out;
  }

  /** Tells that a class is over, and what processor time it took. */
  void done(long nanos) {
    send(Kind.DONE, "", nanos, "");
  }

  @Override
  public void testPlanExecutionStarted(TestPlan testPlan) {
    plan = testPlan;
  }

  @Override
  public void executionStarted(TestIdentifier test) {
    started.put(test.getUniqueId(), System.nanoTime());
    if (test.isTest()) {
      send(Kind.STARTED, name(test), 0, "");
    }
  }

  @Override
  public void executionSkipped(TestIdentifier test, String reason) {
    send(Kind.SKIPPED, name(test), 0, reason);
  }

  @Override
  public void executionFinished(TestIdentifier test, TestExecutionResult result) {
    Long began = started.remove(test.getUniqueId());
    long nanos = began == null ? 0 : System.nanoTime() - began;
    switch (result.getStatus()) {
      case SUCCESSFUL -> {
        if (test.isTest()) {
          send(Kind.PASSED, name(test), nanos, "");
        }
      }
      case FAILED -> {
        String trace = trace(result.getThrowable());
        // Whole in the log; the run prints its first lines.
        System.out.printf("FAILED %s: %s%n", name(test), trace);
        send(Kind.FAILED, name(test), nanos, trace);
      }
      case ABORTED ->
          send(
              Kind.SKIPPED,
              name(test),
              nanos,
              result.getThrowable().map(why -> String.valueOf(why.getMessage())).orElse(""));
    }
  }

  private synchronized void send(Kind kind, String test, long nanos, String text) {
    try {
      out.writeUTF(kind.name());
      out.writeUTF(cut(test));
      out.writeLong(nanos);
      out.writeUTF(cut(text));
      out.flush();
    } catch (IOException e) {
      throw new UncheckedIOException("the runner is gone", e);
    }
  }

  private static String cut(String text) {
    return text.length() <= MOST_CHARACTERS ? text : text.substring(0, MOST_CHARACTERS) + " …";
  }

  private static String trace(Optional<Throwable> why) {
    StringWriter text = new StringWriter();
    why.ifPresent(cause -> cause.printStackTrace(new PrintWriter(text)));
    return text.toString();
  }

  private String name(TestIdentifier test) {
    Optional<TestSource> source = test.getSource();
    if (source.isPresent() && source.get() instanceof MethodSource method) {
      String name = method.getClassName() + "#" + method.getMethodName();
      return isInvocation(test) ? name + " " + test.getDisplayName() : name;
    }
    if (source.isPresent() && source.get() instanceof ClassSource type) {
      return type.getClassName();
    }
    // A dynamic test: named below what made it.
    return parent(test).map(parent -> name(parent) + " ").orElse("") + test.getDisplayName();
  }

  /** Whether its parent is the same method, of which it is one invocation. */
  private boolean isInvocation(TestIdentifier test) {
    return parent(test).flatMap(TestIdentifier::getSource).equals(test.getSource());
  }

  private Optional<TestIdentifier> parent(TestIdentifier test) {
    TestPlan known = plan;
    return known == null ? Optional.empty() : known.getParent(test);
  }
}

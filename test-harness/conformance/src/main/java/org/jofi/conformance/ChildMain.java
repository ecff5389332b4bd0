package org.jofi.conformance;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jofi.conformance.rule.Case;
import org.jofi.conformance.subject.Subject;
import org.jofi.conformance.subject.Subjects;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.FabricUnavailableException;
import org.jspecify.annotations.Nullable;

/**
 * The process that {@link ChildRunner} starts: {@code SUBJECT DOMAIN CASE...}, where an empty
 * domain is any. It ends after a case that hung: what hangs may hold anything.
 */
final class ChildMain {
  private static final int UNAVAILABLE = 3;

  private ChildMain() {}

  public static void main(String[] arguments) throws InterruptedException {
    PrintStream out = System.out;
    int code = 0;
    try {
      run(out, arguments);
    } catch (FabricUnavailableException | FabricException | IllegalArgumentException e) {
      say(out, new Wire.Message(Wire.UNAVAILABLE, String.valueOf(e.getMessage())));
      code = UNAVAILABLE;
    }
    out.flush();
    // Without waiting for anything that a provider may have left running.
    Runtime.getRuntime().halt(code);
  }

  private static void run(PrintStream out, String[] arguments) throws InterruptedException {
    @Nullable String domain = arguments[1].isEmpty() ? null : arguments[1];
    Subject subject = Subjects.named(arguments[0], domain);
    say(out, Wire.description(Descriptions.of(subject)));
    List<Case> cases = new ArrayList<>();
    Arrays.stream(arguments).skip(2).forEach(id -> cases.add(Cases.named(id)));
    CaseRunner runner = new CaseRunner(subject);
    for (Case kase : cases) {
      say(out, new Wire.Message(Wire.STARTED, kase.id()));
      Result result = runner.run(kase);
      say(out, Wire.result(result));
      if (result.verdict() == Verdict.BROKEN) {
        // The next case starts from a process that nothing has gone wrong in.
        return;
      }
    }
  }

  private static void say(PrintStream out, Wire.Message message) {
    // On a line of its own, whatever a provider printed before.
    out.print("\n" + message.encode() + "\n");
    out.flush();
  }
}

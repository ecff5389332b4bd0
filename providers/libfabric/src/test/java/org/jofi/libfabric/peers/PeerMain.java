package org.jofi.libfabric.peers;

import java.util.Optional;

/**
 * One of the two processes: {@code PROVIDER first|second}. It runs the scenarios that lines on its
 * standard input name, each on everything opened anew, and says how each ended.
 */
final class PeerMain {
  /** Begins the line that names the scenario to run. */
  static final String RUN = "@run ";

  /** Everything went as it should. */
  static final String OK = "ok";

  /** Begins what the provider cannot do. */
  private static final String LACKS = "lacks ";

  private static final String FAILED = "failed";

  private PeerMain() {}

  /** What the provider lacks, if that is how a scenario ended. */
  static Optional<String> lack(String end) {
    return end.startsWith(LACKS) ? Optional.of(end.substring(LACKS.length())) : Optional.empty();
  }

  public static void main(String[] arguments) throws InterruptedException {
    Lines lines = new Lines();
    String end = OK;
    while (end.equals(OK)) {
      String line = lines.take();
      // What the other said too late for the scenario before concerns nobody.
      if (line.startsWith(RUN)) {
        end = run(Scenario.valueOf(line.substring(RUN.length())), arguments, lines);
        System.out.println(TwoProcesses.ENDED + end);
        System.out.flush();
      }
    }
    // Without waiting for anything that a provider may have left running.
    Runtime.getRuntime().halt(1);
  }

  private static String run(Scenario scenario, String[] arguments, Lines lines) {
    try (Peer peer = new Peer(arguments[0], arguments[1].equals("first"), lines)) {
      scenario.run(peer);
      return OK;
    } catch (Lack lack) {
      return LACKS + lack.getMessage();
    } catch (AssertionError | RuntimeException failure) {
      failure.printStackTrace(System.out);
      return FAILED;
    }
  }
}

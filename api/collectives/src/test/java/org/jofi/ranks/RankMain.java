package org.jofi.ranks;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;

/** A rank that is a process: it gathers until others are lost, and goes on with the rest. */
final class RankMain {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private RankMain() {}

  public static void main(String[] arguments) {
    Placement placement = Placement.ofEnvironment().orElseThrow();
    try (Ranks all = Ranks.join(placement, PATIENCE)) {
      Ranks ranks = all;
      say("joined as " + ranks.name() + " of " + ranks.size());
      while (true) {
        try {
          byte[] mine = ranks.name().getBytes(StandardCharsets.UTF_8);
          List<byte[]> told = ranks.gather(mine, PATIENCE);
          if (told.size() != ranks.size()) {
            throw new AssertionError(told.size() + " told");
          }
          // Not all of a processor is for this.
          Thread.sleep(1);
        } catch (InterruptedException e) {
          throw new IllegalStateException("nobody interrupts it", e);
        } catch (RankLostException lost) {
          say("lost " + lost.rank() + ": " + lost.getMessage());
          if (lost.rank() < 0) {
            return;
          }
          ranks = ranks.shrink(PATIENCE);
          say("goes on as " + ranks.name() + " of " + ranks.size());
        }
      }
    }
  }

  private static void say(String line) {
    System.out.println(line);
    System.out.flush();
  }
}

package org.jofi.ranks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Ranks gather, fail, leave and go on in any order. What is gathered is whole for all that see it,
 * and numbers keep their order. On one thread, so that a seed always does the same.
 */
@Timeout(60)
class GenerationsTest {
  private static final int SEEDS = 400;
  private static final int STEPS = 120;

  /** What all ranks of a run saw so far; the first that sees something says what it is. */
  private static final class Run {
    private final Map<String, List<String>> gathered = new HashMap<>();
    private final Map<String, Integer> sizes = new HashMap<>();
    private final Map<String, Integer> places = new HashMap<>();
    private int shrunk;
    private int rounds;
  }

  /** A rank, with what it did in its generation. */
  private static final class Actor {
    private final int first;
    private Ranks ranks;
    private int generation;
    private int round;
    private boolean waits;

    Actor(Ranks ranks) {
      this.first = ranks.rank();
      this.ranks = ranks;
    }

    private boolean isLost(Run run) {
      try {
        ranks.check();
        return false;
      } catch (RankLostException e) {
        assertTrue(e.rank() >= 0 && e.rank() < ranks.size(), e.getMessage());
        String words = String.valueOf(e.getMessage());
        assertTrue(words.startsWith("rank " + e.rank() + " failed: "), words);
        // Who failed before it looked at its new number is in no place of this generation.
        Integer who = run.places.get(generation + "/" + e.rank());
        assertTrue(
            who == null || !words.contains("it was") || words.endsWith("it was " + who),
            () -> "another one than " + who + ": " + words);
        return true;
      }
    }

    private String mine() {
      return generation + "/" + round + "/" + ranks.rank();
    }

    void act(Run run) {
      if (waits) {
        @Nullable List<byte[]> told;
        try {
          told = ranks.told();
        } catch (RankLostException e) {
          waits = false;
          return;
        }
        if (told != null) {
          see(run, told);
        }
      } else if (isLost(run)) {
        goOn(run);
      } else {
        ranks.tell(mine().getBytes(StandardCharsets.UTF_8));
        waits = true;
      }
    }

    private void see(Run run, List<byte[]> told) {
      List<String> texts =
          told.stream().map(each -> new String(each, StandardCharsets.UTF_8)).toList();
      assertEquals(ranks.size(), texts.size());
      assertEquals(mine(), texts.get(ranks.rank()));
      List<String> others = run.gathered.putIfAbsent(generation + "/" + round, texts);
      assertEquals(others == null ? texts : others, texts);
      run.rounds++;
      round++;
      waits = false;
    }

    private void goOn(Run run) {
      try {
        ranks = ranks.shrink(Duration.ZERO);
      } catch (RankTimeoutException e) {
        assertTrue(!e.missing().isEmpty(), "somebody is waited for");
        return;
      }
      generation++;
      round = 0;
      run.shrunk++;
      Integer size = run.sizes.putIfAbsent("" + generation, ranks.size());
      assertEquals(size == null ? ranks.size() : size, ranks.size());
      for (int other = 0; other < ranks.size(); other++) {
        Integer who = run.places.get(generation + "/" + other);
        assertTrue(
            who == null || Integer.signum(who - first) == Integer.signum(other - ranks.rank()));
      }
      assertEquals(null, run.places.put(generation + "/" + ranks.rank(), first));
    }
  }

  @Test
  void gatheringsAreWholeAndNumbersKeepTheirOrder() {
    int shrunk = 0;
    int rounds = 0;
    for (int seed = 0; seed < SEEDS; seed++) {
      Run run = run(seed);
      shrunk += run.shrunk;
      rounds += run.rounds;
    }
    // That much happens at all.
    assertTrue(shrunk > SEEDS && rounds > 10 * SEEDS, shrunk + " shrunk, " + rounds + " rounds");
  }

  private static Run run(int seed) {
    Random random = new Random(seed);
    List<Actor> actors = new ArrayList<>();
    Ranks.threads(1 + random.nextInt(6)).forEach(ranks -> actors.add(new Actor(ranks)));
    Run run = new Run();
    actors.forEach(actor -> run.places.put("0/" + actor.first, actor.first));
    try {
      for (int step = 0; step < STEPS && !actors.isEmpty(); step++) {
        Actor actor = actors.get(random.nextInt(actors.size()));
        int dice = random.nextInt(100);
        if (dice < 2) {
          actor.ranks.fail("it was " + actor.first);
          actors.remove(actor);
        } else if (dice < 3) {
          actor.ranks.close();
          actors.remove(actor);
        } else {
          actor.act(run);
        }
      }
      // Whatever happened, those that are left get as far as a gathering of all of them.
      for (int turn = 0; turn < 20; turn++) {
        actors.forEach(actor -> actor.act(run));
      }
      if (!actors.isEmpty()) {
        Actor one = actors.getFirst();
        assertEquals(actors.size(), one.ranks.size());
        assertNotNull(run.gathered.get(one.generation + "/0"));
      }
    } catch (AssertionError | RuntimeException e) {
      throw new AssertionError("seed " + seed, e);
    }
    return run;
  }
}

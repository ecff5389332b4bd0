package org.jofi.runner;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.abort;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Disabled;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Classes with tests of every kind, for a worker that is under test. */
final class Sample {
  private Sample() {}

  /** Every end that a test can have by itself. */
  static final class Ends {
    @Test
    void passes() {}

    @Test
    void fails() {
      assertEquals(1, 2, "one is two");
    }

    @Test
    void aborts() {
      abort("no GPU");
    }

    @Test
    @Disabled("not here")
    void skipped() {}

    @ParameterizedTest
    @ValueSource(strings = {"a", "b"})
    void each(String text) {
      assertEquals("a", text);
    }

    @Test
    @Tag("long")
    void takesLong() {}

    @Test
    @Tag("alone")
    void runsAlone() {}
  }

  /** A class that cannot begin. */
  static final class Unready {
    @BeforeAll
    static void fail() {
      throw new IllegalStateException("not ready");
    }

    @Test
    void never() {}
  }

  /** A class that takes its process along. */
  static final class Crash {
    @Test
    void crashes() {
      Runtime.getRuntime().halt(7);
    }
  }

  /** A class that does not end. */
  static final class Hang {
    @Test
    void hangs() throws InterruptedException {
      Thread.currentThread().join();
    }
  }
}

package org.jofi.mr;

import org.jspecify.annotations.Nullable;

/**
 * Closes several things, each whatever became of the others, and tells the first failure when all
 * was tried. One thread.
 */
public final class CloseSteps {
  private @Nullable RuntimeException failure;

  /** None is taken yet. */
  public CloseSteps() {}

  /** Takes a step; what it throws is kept. Whether it succeeded. */
  public boolean step(Runnable step) {
    try {
      step.run();
      return true;
    } catch (RuntimeException e) {
      failure = Failures.join(failure, e);
      return false;
    }
  }

  /** Whether every step so far succeeded. */
  public boolean succeeded() {
    return failure == null;
  }

  /** Throws the first step's failure, if any, with those of the others suppressed in it. */
  public void end() {
    if (failure != null) {
      throw failure;
    }
  }
}

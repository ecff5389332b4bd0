package org.jofi.mr.teardown;

import org.jspecify.annotations.Nullable;

/**
 * Closes several things. A failure does not keep the others from being closed; the first failure is
 * thrown at the end. One thread.
 */
public final class CloseSteps {
  private @Nullable RuntimeException failure;

  /** No step is done yet. */
  public CloseSteps() {}

  /** Runs a step and keeps the exception that it throws. Returns whether it succeeded. */
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

  /** Throws the first failure, if any; later ones are added to it as suppressed exceptions. */
  public void end() {
    if (failure != null) {
      throw failure;
    }
  }
}

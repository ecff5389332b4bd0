package org.jofi.efadouble;

/** What can be chosen of the devices. The double's own defaults hold for what is not. */
public enum Option {
  /**
   * What they can do without the peer's processor, {@code send}, {@code read} or {@code write}: one
   * for all, or one for each with commas in between.
   */
  GENERATION,

  /** The speed that they tell: one for all, or one for each. */
  GIGABITS,

  /** Which host a process is on: a number, or {@code pid} for one of its own. */
  NODE,

  /** From which all that happens by chance is drawn. */
  SEED,

  /** The longest that a request is held back, in microseconds; how long is by chance. */
  DELAY_US,

  /** How many of 100 packets get lost. */
  LOSS,

  /** How many of 100 sends find the receiver not ready. */
  RNR,

  /** After how many milliseconds without an answer a peer counts as unresponsive. */
  TIMEOUT_MS,

  /** A device that fails: {@code DEVICE:silent|mute|error|gone:REQUESTS}. */
  FAULT,

  /** Whether every request is printed: 1. */
  TRACE
}

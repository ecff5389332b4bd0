package org.jofi.verbsdouble;

/** What can be chosen of the adapters. The double's own defaults hold for what is not. */
public enum Option {
  /** The speed that they tell: one for all, or one for each with commas in between. */
  GIGABITS,

  /** The longest packet that they tell, in bytes: one for all, or one for each. */
  MTU,

  /** {@code infiniband}, or {@code ethernet} for RoCE: one for all, or one for each. */
  LINK,

  /** The firmware that they tell. */
  FIRMWARE,

  /** Whether the kernel is one that registers dma-buf: 1. */
  DMABUF,

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

  /** After how many milliseconds without an answer a connection has failed. */
  TIMEOUT_MS,

  /** An adapter that fails: {@code DEVICE:silent|mute|error|gone:REQUESTS}. */
  FAULT,

  /** Whether what the adapters do is printed: 1. */
  TRACE
}

package org.jofi.ranks;

/** Takes frames, in their order. Any thread, and none waits. */
@FunctionalInterface
interface FrameSink {
  /** Sends a frame; to a peer that is gone, nothing is sent. */
  void send(Frame frame);
}

package org.jofi.ranks;

import org.jspecify.annotations.Nullable;

/** A rank, as a run knows it. Guarded by the run. */
final class Member {
  final Hello hello;
  private final FrameSink sink;

  /** Its number, which changes when ranks go on without those that are lost. */
  int number;

  /** Whether it has left, or said that it failed. */
  boolean isDone;

  /** Whether it ended without a word. */
  boolean isLost;

  /** Whether it waits to go on without those that are lost. */
  boolean shrinks;

  /** How many values of the store it waits for. */
  int waiting;

  /** Its message in the current gathering. */
  byte @Nullable [] part;

  Member(int number, Hello hello, FrameSink sink) {
    this.number = number;
    this.hello = hello;
    this.sink = sink;
  }

  boolean isLeft() {
    return !isDone && !isLost;
  }

  void send(Frame frame) {
    if (isLeft()) {
      sink.send(frame);
    }
  }
}

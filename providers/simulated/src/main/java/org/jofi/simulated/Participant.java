package org.jofi.simulated;

/**
 * A program of a simulation, cut into steps: a rank, or a part of one. It must not wait inside a
 * step; what it waits for arrives between steps.
 */
public interface Participant {

  /** What dumps call it. */
  String name();

  /**
   * Does what can be done now.
   *
   * @return how much was done; 0 if it waits
   * @throws Exception what fails the run
   */
  int step() throws Exception;

  /** Whether it has nothing left to do. It is stepped no more then. */
  boolean isDone();

  /** What it waits for, for a dump: a line, or several. */
  default String pending() {
    return "";
  }
}

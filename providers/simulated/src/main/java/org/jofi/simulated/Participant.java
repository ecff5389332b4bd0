package org.jofi.simulated;

/**
 * A program of a simulation, divided into steps: a rank, or a part of one. It must not wait inside
 * a step, because other participants and the network go on only between steps.
 */
public interface Participant {

  /** Its name in dumps. */
  String name();

  /**
   * Does everything that can be done now.
   *
   * @return how much was done; 0 if it has to wait
   * @throws Exception anything that makes the run fail
   */
  int step() throws Exception;

  /** Whether it has nothing left to do. It is not stepped any more then. */
  boolean isDone();

  /** What it waits for, as one or more lines for a dump. */
  default String pending() {
    return "";
  }
}

package org.jofi.collectives;

import org.jofi.collectives.schedule.Algorithm;
import org.jofi.collectives.schedule.Operation;
import org.jofi.collectives.schedule.Place;
import org.jofi.collectives.schedule.Steps;

/** What a rank does that is the only one of its group. */
final class Alone implements Algorithm {
  @Override
  public String name() {
    return "copy";
  }

  @Override
  public boolean fits(Operation operation, int size) {
    return size == 1;
  }

  @Override
  public void write(Steps to, Operation operation, long chunk) {
    to.copy(Place.INPUT, 0, Place.OUTPUT, 0, operation.output(0, 1));
  }
}

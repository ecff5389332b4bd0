package org.jofi.collectives;

import org.jofi.collectives.schedule.Place;
import org.jofi.transport.Comm;
import org.jofi.transport.Registration;
import org.jofi.transport.Use;
import org.jspecify.annotations.Nullable;

/** A GPU's memory as messages of one connection use it, by place. For one thread. */
final class Leases {
  private final Comm comm;
  private final Use use;
  private @Nullable Registration input;
  private @Nullable Registration output;
  private @Nullable Registration scratch;

  Leases(Comm comm, Use use) {
    this.comm = comm;
    this.use = use;
  }

  /** Registers the memory of a place, unless it is. */
  void take(Place place, Operand operand) {
    if (of(place) == null) {
      Registration taken = comm.register(operand.gpu(), use);
      switch (place) {
        case INPUT -> input = taken;
        case OUTPUT -> output = taken;
        case SCRATCH -> scratch = taken;
      }
    }
  }

  /** The registration of a place; null if it was not taken. */
  @Nullable Registration of(Place place) {
    return switch (place) {
      case INPUT -> input;
      case OUTPUT -> output;
      case SCRATCH -> scratch;
    };
  }

  /** Gives them back; nothing uses them. */
  void end() {
    end(input);
    end(output);
    end(scratch);
    input = null;
    output = null;
    scratch = null;
  }

  private static void end(@Nullable Registration one) {
    if (one != null) {
      one.close();
    }
  }
}

package org.jofi.rdma.communicator;

import java.util.ArrayList;
import java.util.List;

/** The methods that were entered, of classes that {@link TracedClasses} loaded. One thread. */
public final class CallTrace {
  private static final List<String> ENTERED = new ArrayList<>();
  private static boolean on;

  private CallTrace() {}

  /** Begins anew. */
  public static void start() {
    ENTERED.clear();
    on = true;
  }

  /** Ends; what was entered since it began, as class and method. */
  public static List<String> stop() {
    on = false;
    return List.copyOf(ENTERED);
  }

  /** A method was entered: called by what {@link TracedClasses} adds to each. */
  public static void enter(String method) {
    if (on) {
      ENTERED.add(method);
    }
  }
}

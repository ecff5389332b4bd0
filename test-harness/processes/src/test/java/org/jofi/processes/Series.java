package org.jofi.processes;

import java.util.Arrays;
import java.util.List;

/** One of two processes that do the same several times, each time with a transport of its own. */
final class Series {
  /** What lies between the arguments of one time. */
  static final String BETWEEN = " ";

  /** What they do. */
  enum Part {
    TRAFFIC,
    SEND_FIRST,
    RECONNECT
  }

  private Series() {}

  /** Arguments: a part, the arguments of each time, side. */
  public static void main(String[] arguments) throws Exception {
    Part part = Part.valueOf(arguments[0]);
    String side = arguments[arguments.length - 1];
    List<String> runs = Arrays.asList(arguments).subList(1, arguments.length - 1);
    for (String run : runs) {
      System.out.println(part + " " + run);
      String[] own = (run + BETWEEN + side).split(BETWEEN, -1);
      switch (part) {
        case TRAFFIC -> TrafficMain.main(own);
        case SEND_FIRST -> SendFirstMain.main(own);
        case RECONNECT -> ReconnectMain.main(own);
      }
    }
  }
}

package org.jofi.runner;

import java.io.File;
import java.io.IOException;
import java.util.List;

/** A program that starts itself once more, by the program that it is told, and greets there. */
final class Trainee {
  static final String GREETING = "hello";

  private Trainee() {}

  public static void main(String[] args) throws IOException, InterruptedException {
    if (args.length > 0) {
      System.out.println(GREETING);
      return;
    }
    Process child =
        new ProcessBuilder(
                List.of(
                    System.getProperty("jofi.java", ""),
                    "-cp",
                    System.getProperty("java.class.path"),
                    Trainee.class.getName(),
                    "child"))
            .redirectErrorStream(true)
            .redirectOutput(new File("/dev/null"))
            .start();
    System.exit(child.waitFor());
  }
}

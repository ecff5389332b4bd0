package org.jofi.cli;

import com.google.gson.Gson;
import com.google.gson.reflect.TypeToken;
import java.util.ArrayList;
import java.util.List;

/** A program that runs one command after another, and prints what came out of each at its end. */
final class CommandsInTurn {
  private CommandsInTurn() {}

  /**
   * Runs them.
   *
   * @param commands words with spaces between
   */
  public static void main(String[] commands) {
    List<CommandProcess.Outcome> outcomes = new ArrayList<>();
    for (String command : commands) {
      outcomes.add(CommandProcess.runHere(command.split(" ")));
    }
    System.out.println(new Gson().toJson(outcomes));
    System.exit(0);
  }

  /** What such a program printed. */
  static List<CommandProcess.Outcome> outcomes(String printed) {
    return new Gson().fromJson(printed, new TypeToken<List<CommandProcess.Outcome>>() {}.getType());
  }
}

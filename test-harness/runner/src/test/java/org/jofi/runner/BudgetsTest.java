package org.jofi.runner;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BudgetsTest {
  @TempDir private Path folder;

  private Budgets budgets(boolean full) throws IOException {
    Path file = folder.resolve("budgets.txt");
    Files.writeString(
        file,
        """
        # module  short  full
        a          100  1000
        b          100  1000  # words
        c          100  1000
        d          100  1000
        e          100  1000
        e:libfabric-2.1  1  10
        """);
    return Budgets.read(file, full);
  }

  private static PassResult result(String module, double... seconds) {
    String[] names = module.split(":", -1);
    Pass pass = Passes.of(names[0], names.length > 1 ? names[1] : "");
    PassResult result = new PassResult(pass, seconds.length);
    for (int i = 0; i < seconds.length; i++) {
      result.end(new PassResult.Timed("x.Type" + i, 0, (long) (seconds[i] * 1e9)));
    }
    return result;
  }

  private static List<PassResult> all(double... seconds) {
    return Stream.of(0, 1, 2, 3, 4)
        .map(i -> result("abcde".substring(i, i + 1), seconds[i]))
        .toList();
  }

  @Test
  void oneThatGrewByMoreThanAFifthIsNamedWithItsSlowest() throws Exception {
    List<String> exceeded =
        budgets(false).exceeded(List.of(result("a", 21, 100), result("b", 119)));
    assertEquals(
        List.of(
            "a took 121 s of processor time, its budget is 100. Slowest: Type1 100.0 s Type0 21.0 s"),
        exceeded);
    assertEquals(List.of(), budgets(true).exceeded(List.of(result("a", 21, 100))));
  }

  @Test
  void aSlowMachineIsNotTakenForASlowModule() throws Exception {
    assertEquals(List.of(), budgets(false).exceeded(all(200, 210, 190, 200, 230)));
    List<PassResult> results = all(200, 210, 190, 200, 390);
    List<String> exceeded = budgets(false).exceeded(results);
    assertEquals(1, exceeded.size(), exceeded::toString);
    assertTrue(exceeded.getFirst().startsWith("e took 390 s"), exceeded::toString);
    assertTrue(exceeded.getFirst().contains("times 2.00, this machine's pace"), exceeded::toString);
    assertFalse(budgets(false).fail(results));
  }

  @Test
  void oneThatDoubledFailsTheRunOnEveryMachine() throws Exception {
    assertTrue(budgets(false).fail(all(200, 210, 190, 200, 410)));
    assertFalse(budgets(false).fail(all(107, 107, 107, 107, 190)));
    assertTrue(budgets(false).fail(all(107, 107, 107, 107, 220)));
  }

  @Test
  void aLargeModuleThatGrewDoesNotMakeTheMachineSlow() throws Exception {
    assertEquals(1, budgets(false).exceeded(all(100, 100, 100, 100, 190)).size());
    assertEquals(1, budgets(false).exceeded(all(108, 108, 108, 108, 140)).size());
    assertFalse(budgets(false).fail(all(108, 108, 108, 108, 140)));
  }

  @Test
  void aFastMachineAllowsNoLess() throws Exception {
    assertEquals(List.of(), budgets(false).exceeded(all(50, 50, 50, 50, 110)));
  }

  @Test
  void aShortOneHasSlackAndOneWithoutABudgetHasNone() throws Exception {
    assertEquals(List.of(), budgets(false).exceeded(List.of(result("e:libfabric-2.1", 5.5))));
    assertEquals(1, budgets(false).exceeded(List.of(result("e:libfabric-2.1", 6.5))).size());
    assertEquals(1, budgets(false).exceeded(List.of(result("new", 6))).size());
  }
}

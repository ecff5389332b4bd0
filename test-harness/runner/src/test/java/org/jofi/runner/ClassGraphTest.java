package org.jofi.runner;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What reaches what among the runner's own classes. */
class ClassGraphTest {
  private static Map<String, Integer> from(Class<?> type) throws Exception {
    ClassGraph graph = new ClassGraph();
    graph.add(Path.of("target/classes"));
    graph.add(Path.of("target/test-classes"));
    graph.add(Path.of("target/absent"));
    return graph.distances(List.of(type.getName()));
  }

  @Test
  void stepsAreCountedToEachClassThatNamesIt() throws Exception {
    Map<String, Integer> distances = from(Settings.class);
    assertEquals(0, distances.get(Settings.class.getName()));
    assertEquals(1, distances.get(SettingsTest.class.getName()));
    assertEquals(1, distances.get(Plan.class.getName()));
    assertEquals(2, distances.get(PlanTest.class.getName()));
  }

  @Test
  void whatDoesNotReachItIsNotThere() throws Exception {
    assertFalse(from(Settings.class).containsKey(LanesTest.class.getName()));
    assertTrue(from(Worker.class).containsKey(WorkerProcessTest.class.getName()));
  }
}

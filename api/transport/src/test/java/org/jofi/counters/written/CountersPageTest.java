package org.jofi.counters.written;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jofi.transport.FailureCause;
import org.junit.jupiter.api.Test;

/** The page of counters is what the code knows, and each counter is written somewhere. */
class CountersPageTest {
  private static final Path ROOT = Path.of("").toAbsolutePath().getParent().getParent();
  private static final Path PAGE = ROOT.resolve("docs/COUNTERS.md");

  private static String row(CounterType type) {
    return "| `%s` | %08x | %s | %s | %s | %s |"
        .formatted(
            type.words(),
            type.id(),
            type.scope().words(),
            type.isTotal() ? "total" : "gauge",
            type.unit(),
            type.meaning());
  }

  @Test
  void thePageHasWhatIsCounted() throws IOException {
    String table =
        Arrays.stream(CounterType.values())
            .map(CountersPageTest::row)
            .collect(Collectors.joining("\n"));
    assertTrue(
        Files.readString(PAGE).contains(table), () -> PAGE + " is to have these lines:\n" + table);
  }

  @Test
  void idsAndNamesAreUnique() {
    Set<Object> seen = new HashSet<>();
    for (CounterType type : CounterType.values()) {
      assertTrue(seen.add(type.id()) && seen.add(type.words()), type.name());
      assertTrue(type.words().matches("[a-z.]+"), type.words());
      assertFalse(type.meaning().isBlank() || type.meaning().contains("|"), type.name());
      assertEquals(type, CounterType.of(type.id()).orElseThrow());
      assertTrue(CounterType.of(type.scope()).contains(type));
    }
    for (FailureCause cause : FailureCause.values()) {
      assertTrue(CounterType.of(cause).words().startsWith("failed."), cause.name());
    }
  }

  @Test
  void eachIsWrittenSomewhere() throws IOException {
    List<String> sources = new ArrayList<>();
    for (String module : List.of("rdma-protocol", "mr-cache", "api/transport")) {
      try (Stream<Path> files = Files.walk(ROOT.resolve(module).resolve("src/main/java"))) {
        for (Path file : files.filter(each -> each.toString().endsWith(".java")).toList()) {
          if (!file.endsWith("CounterType.java") && !file.endsWith("CounterMeaning.java")) {
            sources.add(Files.readString(file));
          }
        }
      }
    }
    Set<String> unwritten = new TreeSet<>();
    for (CounterType type : CounterType.values()) {
      boolean isOfCause = type.words().startsWith("failed.");
      if (!isOfCause
          && sources.stream()
              .noneMatch(
                  source ->
                      source
                          .replaceAll("\\s+", "")
                          .matches(
                              "(?s).*(add|set|addAtomic)\\(CounterType\\."
                                  + type.name()
                                  + ",.*"))) {
        unwritten.add(type.name());
      }
    }
    assertEquals(Set.of(), unwritten);
  }
}

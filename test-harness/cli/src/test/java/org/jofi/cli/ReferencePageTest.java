package org.jofi.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The pages of reference are what the code says. */
class ReferencePageTest {
  private static final Path PAGE = CommandJson.PAGE.resolveSibling("REFERENCE.md");

  private static final String WRITE =
      "java -cp 'test-harness/cli/target/test-classes:test-harness/cli/target/modules/*' %s %s"
          .formatted(ReferencePage.class.getName(), "docs/REFERENCE.md");

  @Test
  void thePageIsWhatTheCodeMakes() throws Exception {
    String made = ReferencePage.make();
    assertTrue(made.contains("org.jofi.CommunicatorFailed") && made.contains("--provider"), made);
    assertEquals(
        made,
        Files.readString(PAGE),
        "docs/REFERENCE.md is not what the code says. Build, and write it again: " + WRITE);
  }

  @Test
  void everyCommandThatPrintsJsonHasItsSection() {
    Set<String> commands =
        Jofi.commandLine().getSubcommands().entrySet().stream()
            .filter(each -> each.getValue().getCommandSpec().findOption("--json") != null)
            .map(each -> each.getKey())
            .collect(Collectors.toCollection(TreeSet::new));
    Set<String> sections =
        CommandJson.commands().stream()
            .map(command -> command.replaceFirst(" .*", ""))
            .collect(Collectors.toCollection(TreeSet::new));
    assertEquals(commands, sections);
  }

  @Test
  void documentsThatAreNotAsThePageSaysAreSeen() {
    assertEquals(
        List.of(), CommandJson.differences("conform --list", "[{'id':'a','area':'b','rule':'c'}]"));
    assertEquals(
        List.of("[].more is not there"),
        CommandJson.differences("conform --list", "[{'id':'a','area':'b','rule':'c','more':1}]"));
    assertEquals(
        List.of("[].rule is on the page, and not printed"),
        CommandJson.differences("conform --list", "[{'id':'a','area':'b'}]"));
    assertEquals(
        List.of("[].id is number, not [string]"),
        CommandJson.differences("conform --list", "[{'id':1,'area':'b','rule':'c'}]"));
    assertEquals(
        List.of("no section for jofi nothing --json"), CommandJson.differences("nothing", "{}"));
  }
}

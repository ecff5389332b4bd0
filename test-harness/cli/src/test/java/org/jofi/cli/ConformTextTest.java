package org.jofi.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.gson.JsonParser;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jofi.conformance.Cases;
import org.jofi.conformance.Judgement;
import org.jofi.conformance.Report;
import org.jofi.conformance.Result;
import org.jofi.conformance.Verdict;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** The whole text of a small report with every verdict in it, known and not. */
class ConformTextTest {
  private static final String KNOWN =
      """
      shm, libfabric 2.1 (shm shm shm)
      mr_mode VIRT_ADDR

      area                          kept  broken  not claimed
      keys and addressing           0     0       1
      RMA                           1     0       0
      completion queues and errors  1     1       0
      all                           2     1       1

      errors/bad-key-write: BROKEN
        rule:     fi_cq(3), fi_cq_readerr; fi_endpoint(3), FI_DELIVERY_COMPLETE: a write with a key that no region has completes with an error
        expected: it to complete
        happened: not within 3 s
        where:    shm shm shm
        known:    of shm of libfabric 2.1, in every run: a write with a key that no region has never completes
        jofi:     writes only with keys that its peer told in an entry with a check, for regions that stay open until their message is done; a failed operation fails its connection's messages

      known to be broken by shm 2.1, and not in this run:
      case                 verdict  known to be broken  how
      errors/bad-key-read  kept     in every run        a read with a key that no region has never completes

      not claimed:
      case         reason
      keys/unique  takes the application's keys

      4 cases in 1.5 s
      2 kept, 1 broken (1 known of shm 2.1: errors/bad-key-write), 1 not claimed
      """;

  private static final String UNKNOWN =
      """

      rma/write-lands: BROKEN
        rule:     fi_rma(3), fi_write: a write that completed lands while both sides poll
        expected: the bytes
        happened: others
        where:    shm shm shm
        known:    not of shm 2.1
      """;

  @TempDir private Path folder;

  private static Result kept(String id) {
    return new Result(Cases.named(id), Verdict.KEPT, "", "", "", "", 1);
  }

  private static Result broken(String id, String expected, String happened) {
    return new Result(Cases.named(id), Verdict.BROKEN, "", expected, happened, "shm shm shm", 1);
  }

  private static Judgement judgement(Result... more) {
    List<Result> results =
        new ArrayList<>(
            List.of(
                kept("rma/read"),
                broken("errors/bad-key-write", "it to complete", "not within 3 s"),
                kept("errors/bad-key-read"),
                new Result(
                    Cases.named("keys/unique"),
                    Verdict.NOT_CLAIMED,
                    "takes the application's keys",
                    "",
                    "",
                    "",
                    1)));
    results.addAll(List.of(more));
    return Judgement.of(
        new Report(
            new Report.Description("shm", "libfabric 2.1", "shm shm shm", "mr_mode VIRT_ADDR"),
            results,
            1_500_000_000));
  }

  private record Told(int code, String text) {}

  /** What the command prints and returns with these options. */
  private static Told tell(Judgement judgement, String... options) {
    ConformCommand command = new ConformCommand();
    StringWriter out = new StringWriter();
    CommandLine line = new CommandLine(command).setOut(new PrintWriter(out));
    line.parseArgs(options);
    return new Told(command.tell(judgement), out.toString());
  }

  @Test
  void whatIsKnownIsTold() {
    assertEquals(new Told(ExitCode.OK, KNOWN), tell(judgement()));
    assertEquals(new Told(ExitCode.FAILED, KNOWN), tell(judgement(), "--strict"));
  }

  @Test
  void whatIsNotKnownIsToldFromIt() {
    String text =
        KNOWN
            .replace(
                "RMA                           1     0       0",
                "RMA                           1     1       0")
            .replace(
                "all                           2     1       1",
                "all                           2     2       1")
            .replace("\n\nknown to be broken by", "\n" + UNKNOWN + "\nknown to be broken by")
            .replace("4 cases", "5 cases")
            .replace("2 kept, 1 broken", "2 kept, 2 broken");
    Judgement judgement = judgement(broken("rma/write-lands", "the bytes", "others"));
    assertEquals(new Told(ExitCode.FAILED, text), tell(judgement));
    assertEquals(new Told(ExitCode.FAILED, text), tell(judgement, "--strict"));
  }

  @Test
  void jsonHasTheThreeCountsApart() {
    Told told = tell(judgement(broken("rma/write-lands", "the bytes", "others")), "--json");
    assertEquals(ExitCode.FAILED, told.code());
    var report = JsonParser.parseString(told.text()).getAsJsonObject();
    assertEquals(2, report.get("kept").getAsInt());
    assertEquals(2, report.get("broken").getAsInt());
    assertEquals(1, report.get("notClaimed").getAsInt());
    assertEquals("[\"errors/bad-key-write\"]", report.get("known").toString());
    assertEquals("[\"errors/bad-key-read\"]", report.get("notBroken").toString());
    assertEquals(
        List.of("kept", "broken", "kept", "not_claimed", "broken"),
        report.getAsJsonArray("cases").asList().stream()
            .map(kase -> kase.getAsJsonObject().get("verdict").getAsString())
            .toList());
  }

  @Test
  void theFilesHaveThemApart() throws Exception {
    Path xml = folder.resolve("results.xml");
    Path page = folder.resolve("results.md");
    tell(
        judgement(broken("rma/write-lands", "the bytes", "others")),
        "--junit-xml",
        xml.toString(),
        "--markdown",
        page.toString());
    String written = Files.readString(xml);
    assertEquals(2, written.split("<failure ", -1).length - 1, written);
    assertEquals(1, written.split("<failure type=\"known\"", -1).length - 1, written);
    assertEquals(1, written.split("<skipped ", -1).length - 1, written);
    assertEquals(
        """
        ## `shm` of libfabric 2.1

        mr_mode VIRT_ADDR.

        | area | kept | broken | not claimed |
        |---|---|---|---|
        | keys and addressing | 0 | 0 | 1 |
        | RMA | 1 | 1 | 0 |
        | completion queues and errors | 1 | 1 | 0 |
        | **all** | 2 | 2 | 1 |

        2 kept, 2 broken (1 known of shm 2.1: errors/bad-key-write), 1 not claimed

        | broken | known of | rule | what it does | what jofi does about it |
        |---|---|---|---|---|
        | `errors/bad-key-write` | libfabric 2.1, in every run | fi_cq(3), fi_cq_readerr; fi_endpoint(3), FI_DELIVERY_COMPLETE: a write with a key that no region has completes with an error | a write with a key that no region has never completes | writes only with keys that its peer told in an entry with a check, for regions that stay open until their message is done; a failed operation fails its connection's messages |
        | `rma/write-lands` | **not known** | fi_rma(3), fi_write: a write that completed lands while both sides poll | others | not known yet |

        Known to be broken, and not in this run:

        - `errors/bad-key-read`: kept; known of libfabric 2.1, in every run: a read with a key that no region has never completes

        Not claimed:

        - `keys/unique`: takes the application's keys

        """,
        Files.readString(page));
  }
}

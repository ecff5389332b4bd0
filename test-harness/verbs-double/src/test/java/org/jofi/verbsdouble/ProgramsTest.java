package org.jofi.verbsdouble;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jofi.nicdouble.Ended;
import org.jofi.nicdouble.NewerLibrary;
import org.jofi.nicdouble.PingPong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** libfabric's own programs, which know nothing of jofi, find the adapters and pass messages. */
@Tag("libfabric")
@Timeout(200)
class ProgramsTest {
  private static final String LONGEST = "\n6m ";
  private static final long BOUND_SECONDS = 190;

  /** What the second connection of each of the many peers takes. */
  private static final Pattern SECOND =
      Pattern.compile("hub 1: 32 connections in .* s, (\\d+) KiB registered");

  @Test
  void everyAdapterIsListed() throws Exception {
    try (VerbsDouble verbs = VerbsDouble.devices(4)) {
      Ended info = PingPong.info(verbs, "verbs");
      assertEquals(0, info.code(), info::output);
      for (String domain : verbs.domains()) {
        assertTrue(info.output().contains("domain: " + domain + "\n"), info::output);
      }
      assertTrue(info.output().contains("provider: verbs;ofi_rxm\n"), info::output);
      verbs.demandNoViolations();
    }
  }

  @Test
  void messagesArriveOverConnections() throws Exception {
    try (VerbsDouble verbs = VerbsDouble.devices(1)) {
      PingPong.run(verbs, List.of("-p", "verbs", "-e", "msg"), LONGEST);
    }
  }

  /** RoCE, whose addresses are IP's; receivers that are not ready, and packets that get lost. */
  @ParameterizedTest
  @ValueSource(strings = {"infiniband", "ethernet"})
  @Tag("long")
  void messagesArriveAlsoLateAndAgain(String link) throws Exception {
    try (VerbsDouble verbs =
        VerbsDouble.devices(1)
            .with(Option.LINK, link)
            .with(Option.RNR, 10)
            .with(Option.LOSS, 5)
            .with(Option.SEED, 7)) {
      PingPong.run(verbs, List.of("-p", "verbs;ofi_rxm", "-e", "rdm"), LONGEST);
    }
  }

  /**
   * Both sides ask for each connection at once, and some of the peers come back under another
   * address. With a shared receive queue, connections have no receives of their own.
   */
  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  @Tag("long")
  void manyPeersConnectAtOnce(int sharesReceives) throws Exception {
    try (VerbsDouble verbs = VerbsDouble.devices(2)) {
      Path program = verbs.program("many-peers");
      // It is built where libfabric's headers are, which the tests of jofi need all the same.
      assertTrue(Files.isExecutable(program), "apt-get install libfabric-dev");
      String status = "%s %s status".formatted(verbs.program("verbs-double-wire"), verbs.wire());
      ProcessBuilder run = NewerLibrary.start(verbs, program, List.of("16", "2", status));
      run.environment().put("FI_OFI_RXM_USE_SRX", Integer.toString(sharesReceives));
      run.environment().put("FI_MR_CACHE_MONITOR", "disabled");
      Ended ended = Ended.of(run, BOUND_SECONDS);
      assertEquals(0, ended.code(), ended::output);
      assertTrue(ended.output().contains("closed"), ended::output);
      Matcher told = SECOND.matcher(ended.output());
      assertTrue(told.find(), ended::output);
      assertEquals(sharesReceives == 0, Integer.parseInt(told.group(1)) > 1024, ended::output);
      verbs.demandNoViolations();
    }
  }
}

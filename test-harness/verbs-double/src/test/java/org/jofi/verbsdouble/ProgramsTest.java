package org.jofi.verbsdouble;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.jofi.nicdouble.Ended;
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
}

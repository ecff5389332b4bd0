package org.jofi.efadouble;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Locale;
import org.jofi.nicdouble.Ended;
import org.jofi.nicdouble.PingPong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** libfabric's own programs, which know nothing of jofi, find the devices and pass messages. */
@Tag("libfabric")
@Timeout(200)
class ProgramsTest {
  /** What devices of different years can do without the peer's processor. */
  enum Generation {
    SEND,
    READ,
    WRITE;

    String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * The longest message that any fabric of the provider takes: libfabric 2.1 lists efa-direct
   * first, where it ends at the MTU, and other versions pass megabytes as well.
   */
  private static final String LONGEST = "\n8k ";

  @ParameterizedTest
  @EnumSource
  void everyDeviceIsListed(Generation generation) throws Exception {
    try (EfaDouble efa = EfaDouble.devices(4).with(Option.GENERATION, generation.word())) {
      Ended info = PingPong.info(efa, "efa");
      assertEquals(0, info.code(), info::output);
      for (String domain : efa.domains()) {
        assertTrue(info.output().contains("domain: " + domain + "\n"), info::output);
      }
      efa.demandNoViolations();
    }
  }

  @Test
  void messagesArrive() throws Exception {
    pingPong(EfaDouble.devices(1));
  }

  @ParameterizedTest
  @EnumSource
  @Tag("long")
  void messagesArriveOnEachGeneration(Generation generation) throws Exception {
    pingPong(EfaDouble.devices(1).with(Option.GENERATION, generation.word()));
  }

  @Test
  void messagesArriveAlsoOutOfOrder() throws Exception {
    pingPong(EfaDouble.devices(1).with(Option.DELAY_US, 300).with(Option.SEED, 7));
  }

  @Test
  @Tag("long")
  void messagesArriveAlsoWhenReceiversAreNotReady() throws Exception {
    pingPong(EfaDouble.devices(1).with(Option.RNR, 10).with(Option.SEED, 7));
  }

  private static void pingPong(EfaDouble devices) throws Exception {
    try (EfaDouble efa = devices) {
      PingPong.run(efa, List.of("-p", "efa", "-e", "rdm"), LONGEST);
    }
  }
}

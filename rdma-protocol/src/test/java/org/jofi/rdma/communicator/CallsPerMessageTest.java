package org.jofi.rdma.communicator;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;

/**
 * What a short message costs on its way down: a C program makes four calls. What calls nothing and
 * changes nothing is not counted. The figures are what it is now, so that it becomes less.
 */
class CallsPerMessageTest {
  private static final String POSTED = "org/jofi/simulated/spi/SimulatedEndpoint.send";
  private static final int MOST_CALLS = 26;
  private static final int MOST_CLASSES = 20;

  @Test
  @SuppressWarnings("unchecked")
  void aShortSendTakesFewCalls() throws Exception {
    Callable<List<String>> send =
        (Callable<List<String>>)
            new TracedClasses()
                .loadClass(ShortSend.class.getName())
                .getDeclaredConstructor()
                .newInstance();
    List<String> called = send.call();
    int posted = called.indexOf(POSTED);
    assertTrue(posted > 0, () -> "it was not posted within the call: " + called);
    List<String> down = called.subList(0, posted);
    long classes = down.stream().map(method -> method.replaceFirst("\\..*", "")).distinct().count();
    assertTrue(
        down.size() <= MOST_CALLS && classes <= MOST_CLASSES,
        () -> "%d calls through %d classes: %s".formatted(down.size(), classes, down));
  }
}

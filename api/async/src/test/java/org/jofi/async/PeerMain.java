package org.jofi.async;

import java.util.HexFormat;
import org.jofi.transport.ConnectHandle;

/** A process that connects to the handle it is given, sends one message, and then does nothing. */
final class PeerMain {
  private PeerMain() {}

  public static void main(String[] arguments) throws Exception {
    try (Links links = Links.over(arguments[0])) {
      ConnectHandle handle = ConnectHandle.decode(HexFormat.of().parseHex(arguments[1]));
      AsyncSender out = Links.soon(links.driver.connect(handle));
      out.send(links.memory(100, 1), PeerKilledTest.TAG).await(Links.PATIENCE);
      Thread.sleep(Links.PATIENCE);
    }
  }
}

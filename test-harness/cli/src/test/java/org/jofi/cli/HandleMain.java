package org.jofi.cli;

import java.io.IOException;
import java.util.HexFormat;
import org.jofi.transport.ConnectAttempt;
import org.jofi.transport.ConnectHandle;
import org.jofi.transport.Device;
import org.jofi.transport.ListenComm;
import org.jofi.transport.Transport;
import org.jofi.transport.TransportException;
import org.jofi.transport.TransportOptions;

/** A program that listens and prints its handle, or connects to one and prints what came of it. */
final class HandleMain {
  static final String REFUSED = "refused: ";

  private HandleMain() {}

  /** Arguments: a provider, and the handle to connect to, in hexadecimal; without, it listens. */
  public static void main(String[] arguments) throws IOException {
    TransportOptions options = TransportOptions.builder().provider(arguments[0]).build();
    try (Transport transport = Transport.open(options)) {
      Device device = transport.devices().getFirst();
      if (arguments.length == 1) {
        try (ListenComm listener = device.listen()) {
          System.out.println(HexFormat.of().formatHex(listener.handle().encode()));
          // Until whoever started it has done with it.
          while (System.in.read() >= 0) {}
        }
      } else {
        connect(device, ConnectHandle.decode(HexFormat.of().parseHex(arguments[1])));
      }
    }
  }

  private static void connect(Device device, ConnectHandle handle) {
    try (ConnectAttempt attempt = device.connect(handle)) {
      while (attempt.poll() == null) {
        Thread.onSpinWait();
      }
      System.out.println("connected");
    } catch (TransportException refused) {
      System.out.println(REFUSED + refused.getMessage());
    }
  }
}

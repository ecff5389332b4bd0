package org.jofi.abidouble;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.FabricProvider;
import org.jofi.processes.ProcessPair;
import org.jofi.rdma.RdmaTransport;
import org.jofi.runtime.Machine;
import org.jofi.transport.ConnectAttempt;
import org.jofi.transport.ConnectHandle;
import org.jofi.transport.Device;
import org.jofi.transport.ListenComm;
import org.jofi.transport.RecvComm;
import org.jofi.transport.SendComm;

/**
 * One of two processes of a {@link ProcessPair}: the whole protocol over the double. Tells the
 * other its handle, hears the other's, and ends with the double's verdict.
 */
final class Peer {
  private static final Duration LIFETIME = Duration.ofSeconds(100);

  private Peer() {}

  /**
   * Settings, and behind them which of the two this is. Goes through all settings, one after the
   * other, each with a transport and a double of its own; ends with 0 only if everything went as it
   * should and the doubles found nothing.
   */
  public static void main(String[] arguments) throws IOException {
    List<String> settings = List.of(arguments).subList(0, arguments.length - 1);
    int index = arguments[arguments.length - 1].equals("first") ? 0 : 1;
    BufferedReader input = new BufferedReader(new InputStreamReader(System.in, US_ASCII));
    for (String one : settings) {
      Thread watch = Thread.ofPlatform().daemon().start(Peer::endEventually);
      run(PeerSettings.parse(one), index, input);
      watch.interrupt();
    }
  }

  private static void run(PeerSettings settings, int index, BufferedReader input)
      throws IOException {
    System.out.println(settings);
    AbiDouble library = new AbiDouble(settings.settings());
    FabricProvider provider = library.provider();
    FabricInfo nic = Stand.loopback(provider);
    try (Arena arena = Arena.ofShared()) {
      try (RdmaTransport transport =
          RdmaTransport.open(
              provider,
              settings.options(nic.provider(), nic.domainName()),
              Machine.environment())) {
        Device device = transport.devices().getFirst();
        settings.exchange().run(connect(index, library, device, arena, input));
      }
    }
    library.requireClean(settings.exchange().excused());
    System.out.println("calls " + library.calls());
    requireOneWay(settings, library.calls().keySet());
  }

  /** Immediate data comes with writes, or is sent alone, never both. */
  private static void requireOneWay(PeerSettings settings, Set<String> calls) {
    if (settings.exchange() != Exchange.MESSAGES) {
      return;
    }
    boolean withData = calls.contains("fi_writedata");
    boolean withFlags = calls.contains("fi_writemsg");
    // A write asks for delivery, which is a flag, over several rails, and the first ones over any.
    boolean asExpected =
        withFlags
            && (settings.rails() == 1
                ? withData == settings.writeData()
                : settings.writeData() || !withData);
    // So does immediate data that is sent alone: fi_sendmsg.
    boolean alone = calls.contains("fi_senddata");
    if (!asExpected || alone != (settings.rails() == 1 && !settings.writeData())) {
      throw new AssertionError("%s, and calls %s".formatted(settings, calls));
    }
  }

  /** What hangs tells where, and ends; what does not has interrupted this by then. */
  private static void endEventually() {
    try {
      Thread.currentThread().join(LIFETIME);
    } catch (InterruptedException inTime) {
      return;
    }
    Thread.getAllStackTraces()
        .forEach((thread, frames) -> System.err.println(thread + "\n  " + List.of(frames)));
    Runtime.getRuntime().halt(2);
  }

  private static Connected connect(
      int index, AbiDouble library, Device device, Arena arena, BufferedReader input)
      throws IOException {
    try (ListenComm listener = device.listen()) {
      System.out.println(
          ProcessPair.TO_PEER + HexFormat.of().formatHex(listener.handle().encode()));
      ConnectHandle other = ConnectHandle.decode(HexFormat.of().parseHex(input.readLine().strip()));
      try (ConnectAttempt attempt = device.connect(other)) {
        long end = System.nanoTime() + Connected.BOUND.toNanos();
        SendComm send = null;
        RecvComm receive = null;
        while (send == null || receive == null) {
          send = attempt.poll();
          receive = receive == null ? listener.accept() : receive;
          if (System.nanoTime() > end) {
            throw new AssertionError("connected: %s and %s".formatted(send, receive));
          }
          Thread.yield();
        }
        return new Connected(index, library, device, send, receive, arena);
      }
    }
  }
}

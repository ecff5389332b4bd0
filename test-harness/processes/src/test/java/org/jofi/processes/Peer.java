package org.jofi.processes;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.IntStream;
import org.jofi.transport.Await;
import org.jofi.transport.ConnectAttempt;
import org.jofi.transport.ConnectHandle;
import org.jofi.transport.Device;
import org.jofi.transport.Grouping;
import org.jofi.transport.IdleStrategy;
import org.jofi.transport.ListenComm;
import org.jofi.transport.RecvComm;
import org.jofi.transport.SendComm;
import org.jofi.transport.Transport;
import org.jofi.transport.TransportOptions;
import org.jofi.transport.Tuning;

/** One of two processes: a transport, and lines to and from the other. */
final class Peer implements AutoCloseable {
  static final Duration BOUND = Duration.ofSeconds(30);

  /** Of the process: who reads after another peer finds what that one left. */
  private static final BufferedReader IN =
      new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));

  final Transport transport;
  final Device device;
  final ListenComm listener;

  private final IdleStrategy idle = backoff();

  final Await await = new Await(idle);

  Peer(String provider, int rails, TransportOptions.Builder options) {
    List<String> nics = nics(provider, rails);
    transport =
        Transport.open(
            options
                .provider(provider)
                .grouping(new Grouping.Explicit(List.of(nics)))
                .tuning(Tuning.DEFAULT.withMinStripeBytes(16 * 1024))
                .build());
    device = transport.devices().getFirst();
    listener = device.listen();
  }

  /** Leaves the processors to the other process, which is awaited. For one thread. */
  static IdleStrategy backoff() {
    return IdleStrategy.backoff(0, 100, Duration.ofNanos(1_000), Duration.ofNanos(100_000));
  }

  private static List<String> nics(String provider, int rails) {
    if (Providers.isOfEfa(provider)) {
      return IntStream.range(0, rails).mapToObj("efa_%d-rdm"::formatted).toList();
    }
    return Providers.isOfVerbs(provider)
        ? IntStream.range(0, rails).mapToObj("mlx5_%d"::formatted).toList()
        : Collections.nCopies(rails, provider.equals("shm") ? "shm" : "lo");
  }

  static void tell(String line) {
    System.out.println(ProcessPair.TO_PEER + line);
  }

  static String hear() throws IOException {
    String line = IN.readLine();
    if (line == null) {
      throw new IOException("the other process is gone");
    }
    return line;
  }

  /** Tells where it listens, and hears the same. */
  ConnectHandle exchange() throws IOException {
    tell(HexFormat.of().formatHex(listener.handle().encode()));
    return ConnectHandle.decode(HexFormat.of().parseHex(hear()));
  }

  /** A connection in each direction. */
  Link link(ConnectHandle other) {
    long deadline = System.nanoTime() + BOUND.toNanos();
    try (ConnectAttempt attempt = device.connect(other)) {
      SendComm send = null;
      RecvComm receive = null;
      while (send == null || receive == null) {
        send = attempt.poll();
        receive = receive == null ? listener.accept() : receive;
        idle.idle();
        if (System.nanoTime() - deadline > 0) {
          throw new IllegalStateException("no connection within " + BOUND);
        }
      }
      return new Link(send, receive);
    }
  }

  /** Both directions. */
  record Link(SendComm send, RecvComm receive) {}

  @Override
  public void close() {
    transport.close();
  }
}

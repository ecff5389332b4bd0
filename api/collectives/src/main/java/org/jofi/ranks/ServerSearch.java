package org.jofi.ranks;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.UnknownHostException;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;

/**
 * Looks for a server at every address of its name, again and again, since it may start later: a
 * name may have an IPv6 address where the server has none, or one in a network that does not lead
 * there.
 */
final class ServerSearch {
  /** What tells the addresses of a name. */
  @FunctionalInterface
  interface Names {
    /** Those of a host, at least one. */
    List<InetAddress> of(String host) throws UnknownHostException;
  }

  private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /** An address from which nothing comes leaves time for the others. */
  private static final long MOST_MILLIS_EACH = 2_000;

  /** Less would take a host that refuses at once for one that does not answer. */
  private static final int LEAST_MILLIS_EACH = 100;

  private final Names names;
  private final String host;
  private final int port;

  ServerSearch(String host, int port) {
    this(name -> List.of(InetAddress.getAllByName(name)), host, port);
  }

  ServerSearch(Names names, String host, int port) {
    this.names = names;
    this.host = host;
    this.port = port;
  }

  /**
   * Connects.
   *
   * @param deadline when to give up, in {@link System#nanoTime()}
   * @throws IOException if nobody answers, or this thread is interrupted: what came of the last try
   *     at each address
   */
  Socket find(long deadline) throws IOException {
    while (true) {
      IOException reason;
      try {
        List<InetAddress> addresses = names.of(host);
        Map<InetAddress, IOException> reasons = new LinkedHashMap<>();
        for (InetAddress address : addresses) {
          Socket socket = new Socket();
          try {
            socket.connect(
                new InetSocketAddress(address, port), millis(deadline, addresses.size()));
            return socket;
          } catch (IOException e) {
            FrameConnection.end(socket);
            reasons.put(address, e);
          }
        }
        reason = reasons.size() == 1 ? reasons.values().iterator().next() : all(reasons);
      } catch (UnknownHostException e) {
        reason = e;
      }
      if (System.nanoTime() - deadline >= 0 || Thread.currentThread().isInterrupted()) {
        throw reason;
      }
      LockSupport.parkNanos(RETRY_NANOS);
      if (System.nanoTime() - deadline >= 0) {
        throw reason;
      }
    }
  }

  private static int millis(long deadline, int addresses) {
    long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
    long most = addresses == 1 ? left : Math.min(left, MOST_MILLIS_EACH);
    return Math.clamp(most, LEAST_MILLIS_EACH, Integer.MAX_VALUE);
  }

  private static IOException all(Map<InetAddress, IOException> reasons) {
    String words =
        reasons.entrySet().stream()
            .map(one -> one.getKey().getHostAddress() + ": " + Reason.of(one.getValue()))
            .collect(Collectors.joining(", "));
    Collection<IOException> failures = reasons.values();
    IOException all = new IOException(words);
    failures.forEach(all::addSuppressed);
    return all;
  }
}

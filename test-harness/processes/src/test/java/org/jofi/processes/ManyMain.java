package org.jofi.processes;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jofi.transport.Comm;
import org.jofi.transport.ConnectAttempt;
import org.jofi.transport.ConnectHandle;
import org.jofi.transport.IdleStrategy;
import org.jofi.transport.ProgressThreads;
import org.jofi.transport.RecvComm;
import org.jofi.transport.SendComm;
import org.jofi.transport.TransportOptions;

/**
 * One process of {@link ManyTest}: the first connects thousands of communicators to the second,
 * which is killed, and closes all of them.
 */
final class ManyMain {
  private static final int AT_ONCE = 64;
  private static final long MOST_HEAP_BYTES = 12_000;
  private static final Duration BOUND = Duration.ofSeconds(2);

  /** What looking at thousands takes, on a busy machine; four endpoints have bounds that add up. */
  private static final Duration SLACK = Duration.ofSeconds(4);

  private final int count;
  private final List<Comm> comms;

  private ManyMain(int count) {
    this.count = count;
    comms = new ArrayList<>(count);
  }

  /** Arguments: provider, whether they are aborted, progress threads, how many, side. */
  public static void main(String[] arguments) throws IOException {
    TransportOptions.Builder options =
        TransportOptions.builder()
            .progressThreads(ProgressThreads.valueOf(arguments[2]))
            .connectTimeout(Peer.BOUND)
            .peerTimeout(BOUND)
            .closeTimeout(BOUND);
    ManyMain main = new ManyMain(Integer.parseInt(arguments[3]));
    try (Peer peer = new Peer(arguments[0], 1, options)) {
      ConnectHandle other = peer.exchange();
      // So that what every endpoint has is there.
      Peer.Link link = peer.link(other);
      long before = heap();
      if (arguments[4].equals("first")) {
        main.connect(peer, other);
      } else {
        main.accept(peer);
      }
      long each = (heap() - before) / main.count;
      System.out.printf("%d communicators of %d B of heap each%n", main.count, each);
      ReconnectMain.demand(
          each <= MOST_HEAP_BYTES, "%d B of heap at most".formatted(MOST_HEAP_BYTES));
      Peer.tell("connected");
      Peer.hear();
      if (arguments[4].equals("first")) {
        main.comms.add(link.send());
        main.comms.add(link.receive());
        System.out.println(ProcessPair.KILL_PEER);
        main.close(Boolean.parseBoolean(arguments[1]));
      } else {
        Peer.hear();
      }
    }
  }

  /** Bytes in use, when what is not is gone. */
  private static long heap() {
    for (int i = 0; i < 3; i++) {
      System.gc();
    }
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }

  private void connect(Peer peer, ConnectHandle other) {
    IdleStrategy idle = Peer.backoff();
    long deadline = System.nanoTime() + Peer.BOUND.toNanos();
    while (comms.size() < count) {
      List<ConnectAttempt> attempts = new ArrayList<>();
      for (int i = 0; i < AT_ONCE; i++) {
        attempts.add(peer.device.connect(other));
      }
      idle.reset();
      while (!attempts.isEmpty()) {
        attempts.removeIf(
            attempt -> {
              SendComm connected = attempt.poll();
              return connected != null && comms.add(connected);
            });
        idle.idle();
        ReconnectMain.demand(
            System.nanoTime() - deadline < 0, () -> "%d connected only".formatted(comms.size()));
      }
    }
  }

  private void accept(Peer peer) {
    IdleStrategy idle = Peer.backoff();
    long deadline = System.nanoTime() + Peer.BOUND.toNanos();
    while (comms.size() < count) {
      RecvComm accepted = peer.listener.accept();
      if (accepted != null) {
        comms.add(accepted);
      }
      idle.idle(accepted == null ? 0 : 1);
      ReconnectMain.demand(
          System.nanoTime() - deadline < 0, () -> "%d accepted only".formatted(comms.size()));
    }
  }

  private void close(boolean abort) {
    long start = System.nanoTime();
    comms.forEach(abort ? Comm::abort : Comm::close);
    Duration took = Duration.ofNanos(System.nanoTime() - start);
    System.out.printf(
        "%s %d communicators to the dead took %d ms%n",
        abort ? "aborting" : "closing", comms.size(), took.toMillis());
    ReconnectMain.demand(took.compareTo(BOUND.plus(SLACK)) < 0, "one bound for all");
  }
}

package org.jofi.cli.ranks;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import org.jofi.ranks.JoinOptions;
import org.jofi.ranks.Placement;
import org.jofi.ranks.RankServer;
import org.jofi.ranks.RanksException;

/** Runs ranks as threads of this process, for fabrics within one process. */
public final class RankThreads {

  /** What a rank does. */
  @FunctionalInterface
  public interface Program {
    /**
     * Runs one rank.
     *
     * @return its exit code
     */
    int run(Placement placement);
  }

  private RankThreads() {}

  /**
   * Runs all ranks, each on a thread of its own, and waits for them. Each of their waits has a time
   * limit, so this wait ends, too.
   *
   * @return 0 if all succeeded, else the greatest exit code
   */
  public static int run(int ranks, Duration patience, Program program) {
    InetSocketAddress anyPort = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    BlockingQueue<Integer> codes = new ArrayBlockingQueue<>(ranks);
    List<Thread> threads = new ArrayList<>();
    try (RankServer server =
        RankServer.open(
            anyPort,
            ranks,
            JoinOptions.defaults().withSecret(""),
            patience,
            RankServer.Watch.CONNECTIONS)) {
      for (int rank = 0; rank < ranks; rank++) {
        Placement placement =
            new Placement(
                rank, ranks, anyPort.getAddress().getHostAddress(), server.port(), "jofi");
        threads.add(
            Thread.ofPlatform()
                .daemon()
                .name("rank-" + rank)
                .start(() -> codes.add(program.run(placement))));
      }
      for (Thread thread : threads) {
        thread.join();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new RanksException("interrupted while ranks ran", e);
    }
    // A thread that threw an exception has no exit code.
    return codes.size() < ranks ? 1 : codes.stream().mapToInt(Integer::intValue).max().orElse(1);
  }
}

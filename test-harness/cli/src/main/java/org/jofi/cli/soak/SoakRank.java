package org.jofi.cli.soak;

import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.jofi.cli.ranks.FabricChoice;
import org.jofi.cli.ranks.RankDevice;
import org.jofi.fabric.FabricUnavailableException;
import org.jofi.ranks.JoinOptions;
import org.jofi.ranks.Placement;
import org.jofi.ranks.RankServer;
import org.jofi.transport.FailureCause;
import org.jofi.transport.TransportException;
import org.jofi.transport.TransportOptions;
import org.jspecify.annotations.Nullable;

/**
 * A rank of a soak. Its transport stays open for the whole run, which is where leaks would show;
 * all else lasts for a generation. It does what its parent orders, and reports.
 */
public final class SoakRank {
  /**
   * A peer that is stopped for a while is to be told of a close all the same; so this is longer
   * than any fault but shorter than what counts as a hang.
   */
  private static final Duration CLOSE_WITHIN = Duration.ofSeconds(20);

  private final Placement placement;
  private final Duration patience;
  private final PrintStream reports;
  private final BlockingQueue<Order> orders = new LinkedBlockingQueue<>();
  private volatile int finished;

  /**
   * @param placement which rank it is
   * @param patience how long it waits without progress
   * @param reports where reports go
   */
  public SoakRank(Placement placement, Duration patience, PrintStream reports) {
    this.placement = placement;
    this.patience = patience;
    this.reports = reports;
  }

  /** Takes what the parent said. Any thread. */
  public void order(String line) {
    Lines.read(line, Order.class)
        .ifPresent(
            order -> {
              if (order.kind() == Order.Kind.FINISH) {
                finished = order.generation();
              } else {
                orders.add(order);
              }
            });
  }

  /**
   * Opens the device and does what is ordered, until it is ordered to end.
   *
   * @param device names of NICs, with commas between; empty for the first device
   * @return whether all went well
   */
  public boolean run(FabricChoice fabric, String device, int rails) {
    TransportOptions.Builder options =
        TransportOptions.builder()
            .connectTimeout(patience)
            .requestTimeout(patience)
            .closeTimeout(CLOSE_WITHIN);
    try (RankDevice opened = RankDevice.open(fabric, options, device, rails)) {
      report(Report.of(Report.Kind.READY, 0, 0, opened.describe(), 0));
      while (true) {
        Order order = orders.take();
        switch (order.kind()) {
          case MEET -> generation(opened, order);
          case END -> {
            return true;
          }
          case FINISH, ABORT -> {
            // Of a generation that is over.
            continue;
          }
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    } catch (TransportException e) {
      if (e.failure().cause() != FailureCause.UNAVAILABLE) {
        throw e;
      }
      report(Report.of(Report.Kind.UNAVAILABLE, 0, 0, String.valueOf(e.getMessage()), 0));
      return false;
    } catch (FabricUnavailableException e) {
      report(Report.of(Report.Kind.UNAVAILABLE, 0, 0, String.valueOf(e.getMessage()), 0));
      return false;
    }
  }

  private void generation(RankDevice device, Order order) throws InterruptedException {
    Generation generation = new Generation(device, order, this);
    Optional<RankServer> server = Optional.empty();
    Optional<Report> ending;
    try {
      int port = order.port();
      if (port == 0) {
        server = Optional.of(serve(order));
        port = server.get().port();
        report(Report.of(Report.Kind.SERVING, order.generation(), 0, "", port));
      }
      Placement placed =
          new Placement(placement.rank(), placement.size(), order.host(), port, placement.origin());
      ending = generation.run(placed, patience, () -> nextAbort(order.generation()));
    } finally {
      server.ifPresent(RankServer::close);
    }
    ending.ifPresent(last -> report(withVitals(last, device)));
  }

  private RankServer serve(Order order) {
    try {
      return RankServer.open(
          new InetSocketAddress(InetAddress.getByName(order.host()), 0),
          placement.size(),
          JoinOptions.defaults().withSecret(order.secret()),
          patience,
          RankServer.Watch.CONNECTIONS);
    } catch (UnknownHostException e) {
      throw new IllegalStateException("not an address: " + order.host(), e);
    }
  }

  /** Waits for the parent's word on how a failed generation goes on; it has a bound of its own. */
  private Order nextAbort(int generation) {
    try {
      while (true) {
        Order order = orders.take();
        if (order.kind() == Order.Kind.ABORT && order.generation() == generation) {
          return order;
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }

  private static Report withVitals(Report report, RankDevice device) {
    @Nullable Vitals vitals = Vitals.settled(device.device());
    // Kept with the log if the soak fails: which sockets are too many.
    System.err.printf(
        "generation %d: %d sockets%n%s%n",
        report.generation(),
        vitals.sockets(),
        String.join(System.lineSeparator(), Vitals.tcpSockets()));
    return new Report(
        report.kind(),
        report.generation(),
        report.round(),
        report.text(),
        report.number(),
        report.railsDown(),
        vitals);
  }

  /** Whether the parent wants this generation to end. */
  boolean finishes(int generation) {
    return finished == generation;
  }

  void report(Report report) {
    reports.println(Lines.write(report));
    reports.flush();
  }

  /** Of a round that is over, with the state of the rails. */
  void checked(Order order, int round, RoundKind kind, long bytes, Map<Integer, String> down) {
    report(
        new Report(Report.Kind.CHECKED, order.generation(), round, kind.text(), bytes, down, null));
  }
}

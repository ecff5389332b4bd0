package org.jofi.collectives;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jofi.ranks.Ranks;
import org.jofi.simulated.SimulatedProvider;
import org.jofi.transport.Device;
import org.jofi.transport.Transport;
import org.jofi.transport.TransportOptions;

/** Groups whose ranks are threads of the test, each with a transport of its own. */
final class Groups {
  /** What a rank does. */
  interface Body {
    void run(Group group) throws Exception;
  }

  /** Likewise, for a rank that makes its group itself. */
  interface RankBody {
    void run(Ranks ranks, Device device) throws Exception;
  }

  /** What a rank does that has two devices. */
  interface LevelsBody {
    void run(Ranks ranks, Levels levels) throws Exception;
  }

  /** The provider of ranks that share a host. */
  static final String WITHIN_HOST = "simulated-tcp";

  private static final Duration BOUND = Duration.ofSeconds(60);

  static final GroupOptions OPTIONS = GroupOptions.defaults().withTimeout(Duration.ofSeconds(20));

  private Groups() {}

  /** Over the simulated fabric. */
  static void simulated(int size, GroupOptions options, Body body) {
    over(new SimulatedProvider(), size, options, body);
  }

  /** Over a simulated fabric of one's own. */
  static void over(SimulatedProvider network, int size, GroupOptions options, Body body) {
    run(
        size,
        () -> Transport.open(network, transportOptions("simulated-efa")),
        (ranks, device) -> {
          try (Group group = Group.connect(ranks, device, options)) {
            body.run(group);
          }
        });
  }

  /** Over a provider of libfabric's. */
  static void over(String provider, int size, GroupOptions options, Body body) {
    run(
        size,
        () -> Transport.open(transportOptions(provider)),
        (ranks, device) -> {
          try (Group group = Group.connect(ranks, device, options)) {
            body.run(group);
          }
        });
  }

  /** Over two simulated fabrics: ranks whose hosts have the same name share the second one. */
  static void overTwoLevels(
      SimulatedProvider network, SimulatedProvider memory, List<String> hosts, LevelsBody body) {
    run(
        hosts.size(),
        () -> Transport.open(network, transportOptions("simulated-efa")),
        (ranks, device) -> {
          try (Transport within = Transport.open(memory, transportOptions(WITHIN_HOST))) {
            Host host = new Host(hosts.get(ranks.rank()));
            body.run(ranks, new Levels(device, within.devices().getFirst(), host));
          }
        });
  }

  /** The same, with a group of all ranks. */
  static void overTwoLevels(List<String> hosts, GroupOptions options, Body body) {
    overTwoLevels(
        new SimulatedProvider(),
        new SimulatedProvider(),
        hosts,
        (ranks, levels) -> {
          try (Group group = Group.connect(ranks, levels, options)) {
            body.run(group);
          }
        });
  }

  private static TransportOptions transportOptions(String provider) {
    return TransportOptions.builder()
        .provider(provider)
        .closeTimeout(Duration.ofSeconds(5))
        .build();
  }

  /** Opens a transport. */
  interface Opening {
    Transport open();
  }

  /** Runs ranks; the first failure of one is thrown, when all have ended. */
  static void run(int size, Opening opening, RankBody body) {
    List<CompletableFuture<Void>> ends = new ArrayList<>();
    for (Ranks ranks : Ranks.threads(size)) {
      CompletableFuture<Void> end = new CompletableFuture<>();
      ends.add(end);
      Thread.ofPlatform()
          .daemon()
          .name("rank-" + ranks.rank())
          .start(
              () -> {
                try (Transport transport = opening.open()) {
                  body.run(ranks, transport.devices().getFirst());
                  ranks.close();
                  end.complete(null);
                } catch (Throwable e) {
                  ranks.fail(String.valueOf(e.getMessage()));
                  end.completeExceptionally(e);
                }
              });
    }
    Throwable first = null;
    for (CompletableFuture<Void> end : ends) {
      try {
        end.get(BOUND.toSeconds(), TimeUnit.SECONDS);
      } catch (ExecutionException e) {
        if (first == null) {
          first = e.getCause();
        } else if (!first.equals(e.getCause())) {
          first.addSuppressed(e.getCause());
        }
      } catch (InterruptedException | TimeoutException e) {
        throw new AssertionError("a rank did not end", e);
      }
    }
    if (first != null) {
      if (first instanceof Error error) {
        throw error;
      }
      throw new CompletionException(first);
    }
  }
}
